"""List a study's pages in a script that each page's header reads, because pages are written at different times."""

import re
from html import unescape
from pathlib import Path

from ragrelay.base.annex import annexes
from ragrelay.base.io.atomic_files import write_text
from ragrelay.report.display.script_json import script_json

LIST = "report/pages.js"
PLACES = ("report/index.html", *(place for annex in annexes() for place in annex.pages))


def list_pages(results: Path) -> None:
    """Write the list of the pages below ``results``, with the titles and anchors in their headers."""
    entries = []
    for path in [path for place in PLACES for path in sorted(results.glob(place))]:
        header = path.read_text(encoding="utf-8").partition('<nav aria-label="Pages">')[2].partition("</nav>")[0]
        for anchor, title in re.findall(r'<a href="#([^"]+)"[^>]*>(.*?)</a>', header):
            entries.append([unescape(title), f"{path.relative_to(results).as_posix()}#{unescape(anchor)}"])
    write_text(f"ragrelayPages = {script_json(entries)};\n", results / LIST)
