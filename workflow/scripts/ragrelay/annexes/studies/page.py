"""Write the list of studies, `results/index.html`."""

import os
from pathlib import Path
from urllib.parse import quote

from ragrelay.annexes.studies.listed import PAGE, Listed, read_all, state
from ragrelay.base.io.atomic_files import write_text
from ragrelay.report.display.numbers import counted
from ragrelay.report.display.templates import FOLDER, environment, inside

NAME = "index.html"
MARK = '<meta name="generator" content="ragrelay: list of studies">'
TEMPLATE = Path(__file__).with_name("templates") / "studies.html.j2"
STYLES, SCRIPTS = ("page.css", "lead.css", "studies.css"), ("tables.js",)
TIMES = 5
"""Maximum number of times the list is rewritten because another run has ended in the meantime."""


def keep_list(root: Path, own: Path | None = None) -> list[str]:
    """Write the list of studies in ``root``, and return warnings, for example if the folder isn't writable.

    Each run checks for changes after writing, so no study is missing if two runs end at the same time. ``own``: the
    folder of the study whose run is ending. No list is written to the working directory or a file system's root.
    """
    page = root / NAME
    if root.resolve() in (Path.cwd(), Path(root.resolve().anchor)):
        return []
    try:
        if page.exists() and MARK not in page.read_text(encoding="utf-8", errors="replace")[:2_000]:
            return [f"{page}: not ragrelay's list of studies, so it is left unchanged"]
        for _ in range(TIMES):
            seen = state(root)
            write_text(render(*read_all(root, own)), page)
            if state(root) == seen:
                break
    except OSError as error:
        return [f"{page}: cannot write the list of studies: {error.strerror or error}"]
    return []


def list_studies(root: Path) -> tuple[list[str], list[str]]:
    """Write the list of studies in ``root``; returns warnings, and lines for the terminal about incomplete studies."""
    warnings = [f"ragrelay: warning: {warning}" for warning in keep_list(root)]
    studies, _ = read_all(root)
    troubles = [f"{study.name}: {study.trouble}" for study in studies if study.trouble]
    unfinished = f"{len(troubles)} without a finished page"
    return warnings, [*troubles, f"{counted(len(studies), 'study', 'studies')}, {unfinished}: {root / NAME}"]


def render(studies: list[Listed], others: list[str], template: Path = TEMPLATE) -> str:
    """Render the page as HTML; all texts are escaped."""
    return (
        environment(template.parent)
        .get_template(template.name)
        .render(
            mark=MARK,
            style=inside(FOLDER, *STYLES),
            script=inside(FOLDER, *SCRIPTS),
            studies=[(study, f"./{quote(os.fsencode(study.folder))}/{PAGE}") for study in studies],
            others=others,
        )
    )
