"""Write a script with links to all of a study's pages. Separate jobs write the pages, which load the script."""

import re
from html import unescape
from pathlib import Path

from ragrelay.base.annex import annexes
from ragrelay.base.io.atomic_files import write_text
from ragrelay.report.display.script_json import script_json

LIST = "report/pages.js"
PLACES = ("report/index.html", *(place for annex in annexes() for place in annex.pages))


def list_pages(results: Path) -> None:
    """Collect the titles and anchors from the headers of all pages in ``results``, and write them to pages.js."""
    entries = []
    for path in [path for place in PLACES for path in sorted(results.glob(place))]:
        header = path.read_text(encoding="utf-8").partition('<nav aria-label="Pages">')[2].partition("</nav>")[0]
        for anchor, title in re.findall(r'<a href="#([^"]+)"[^>]*>(.*?)</a>', header):
            entries.append([unescape(title), f"{path.relative_to(results).as_posix()}#{unescape(anchor)}"])
    write_text(f"ragrelayPages = {script_json(entries)};\n", results / LIST)
