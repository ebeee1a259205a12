"""Collect what the site is built from: every page where the project has it, notebooks as pages, and what pages link to.

Pages of the studies that `make gallery` has finished are put in, too.

python tools/site.py FOLDER
"""

import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "docs/**/*.md", "docs/*.ipynb", "config/README.md", "profiles/README.md", "resources/**/*.md")
GALLERY = {
    "The demo": "demo_real",
    "Two run files": "my-runs",
    "Two datasets, two generators": "two-by-two",
    "Answers from another system": "my-answers",
    "Judges": "judges",
}
"""Studies by their headings in docs/gallery.md."""
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def page(path: Path) -> str:
    """Return the page's Markdown, with links to folders and notebooks as the site has them."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
        text = "\n\n".join(f"```python\n{source}\n```" if kind == "code" else source for kind, source in cells) + "\n"
    return re.sub(r"(\]\([^)\s]+)\.ipynb\)", r"\1.md)", text)


def collect(folder: Path) -> None:
    """Write all pages and the files that they link to below ``folder``, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted({path for pattern in PAGES for path in ROOT.glob(pattern)}):
        target = (folder / path.relative_to(ROOT)).with_suffix(".md")
        target.parent.mkdir(parents=True, exist_ok=True)
        text = page(path)
        target.write_text(text, encoding="utf-8")
        for link in LINK.findall(text):
            linked = (path.parent / link).resolve()
            if linked.is_file() and linked.suffix != ".md":
                copy = folder / linked.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, copy)


def show_gallery(folder: Path, results: Path) -> None:
    """Put the pages of finished studies below ``folder``, and a link below the heading of each."""
    page = folder / "docs/gallery.md"
    text = page.read_text(encoding="utf-8")
    for title, study in GALLERY.items():
        if (results / study / "report/index.html").is_file():
            shutil.copytree(results / study / "report", folder / "docs/gallery" / study)
            text = text.replace(f"## {title}\n", f"## {title}\n\n[Open the page](gallery/{study}/index.html)\n")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    collect(Path(sys.argv[1]))
    show_gallery(Path(sys.argv[1]), ROOT / "results")
