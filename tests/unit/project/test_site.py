"""What the site of the documentation is built from; `make docs` builds it, and a broken link ends that."""

from pathlib import Path
from typing import Any

import yaml

from tests.support.sandbox import ROOT
from tools.gallery import OWN, printed
from tools.site import GALLERY, LINK, collect, show_gallery

MKDOCS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def in_nav(part: Any) -> set[str]:
    if isinstance(part, str):
        return {part}
    return {page for one in (part if isinstance(part, list) else part.values()) for page in in_nav(one)}


def test_every_page_is_in_the_navigation(tmp_path: Path) -> None:
    collect(tmp_path)
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    assert {page for page in pages if not page.startswith("resources/")} == in_nav(MKDOCS["nav"])


def test_links_lead_to_what_was_collected(tmp_path: Path) -> None:
    collect(tmp_path)
    links = [(page, link) for page in tmp_path.rglob("*.md") for link in LINK.findall(page.read_text(encoding="utf-8"))]
    assert len(links) > 100
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_a_notebook_becomes_a_page(tmp_path: Path) -> None:
    collect(tmp_path)
    text = (tmp_path / "docs/pyterrier.md").read_text(encoding="utf-8")
    assert (
        text.startswith("# Answers in a PyTerrier experiment\n")
        and "```python\nimport os\nfrom pathlib import Path\n" in text
    )


def test_the_gallery_has_the_pages_that_are_finished(tmp_path: Path) -> None:
    """It has them with their files; the others have no link, which the strict build would refuse."""
    site, report = tmp_path / "site", tmp_path / "results/my-runs/report"
    (report / "explorer").mkdir(parents=True)
    for name in ("index.html", "explorer/q01.js"):
        (report / name).write_text(name, encoding="utf-8")
    collect(site)
    show_gallery(site, tmp_path / "results")
    text = (site / "docs/gallery.md").read_text(encoding="utf-8")
    assert all(f"## {title}\n" in text for title in GALLERY)
    assert text.count("Open the page") == 1
    assert "## Two run files\n\n[Open the page](gallery/my-runs/index.html)" in text
    assert (site / "docs/gallery/my-runs/explorer/q01.js").is_file()


def test_the_gallerys_studies_are_those_that_the_docs_print() -> None:
    pages = {"my-runs": "README.md", "my-answers": "docs/bring-your-own-answers.md"}
    studies = {study: yaml.safe_load(printed(page, "my-study.yaml")) for study, page in pages.items()}
    assert {study: read["study"] for study, read in studies.items()} == {study: study for study in pages}
    assert studies["my-answers"]["generators"]["theirs"]["path"] == f"{OWN}/answers/{{dataset}}.jsonl"
    assert f'"{OWN}/answers/demo.jsonl"' in printed("docs/bring-your-own-answers.md", "answers/make.py")
