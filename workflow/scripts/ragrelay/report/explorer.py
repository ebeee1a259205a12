"""The query explorer in the page: what can be chosen, and each query's data, inside the page or next to it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.display.palette import looks
from ragrelay.display.script_json import script_json
from ragrelay.explorer.write import INDEX
from ragrelay.report.study import ReportedStudy

MOST_BYTES = 5_000_000
"""Larger data (bytes) is written to files next to the page, so that the page stays below 10 MB."""


@dataclass(frozen=True)
class Explorer:
    """``index``: what the script needs to know at once; ``inside``: queries' JSON by the id of the element it is in."""

    index: Mapping[str, Any] = field(default_factory=dict)
    inside: Mapping[str, Markup] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def beside(self) -> bool:
        """Whether the page loads the queries from files."""
        return bool(self.index) and not self.inside


def explorer(study: ReportedStudy, page: Path) -> Explorer:
    """The explorer of ``study`` for a page at ``page``; empty where the study has no explorer data."""
    if not study.explorer:
        return Explorer()
    parts, inside, notes = [], {}, []
    listed = [json.loads((folder / INDEX).read_text(encoding="utf-8")) for folder in study.explorer]
    size = sum(query["bytes"] for part in listed for query in part["queries"])
    beside = size > MOST_BYTES
    for place, (section, folder, part) in enumerate(zip(study.sections, study.explorer, listed, strict=True), 1):
        grid = section.grid
        parts.append(
            {
                "title": section.title,
                "folder": Path(os.path.relpath(folder, page.parent)).as_posix() if beside else None,
                "retrievers": grid.retrievers,
                "orderings": grid.orderings,
                "k": grid.k,
                "measures": grid.measures,
                "references": [*section.grades, *section.unseen],
                "colours": {name: look.colour for name, look in looks(grid.retrievers).items()},
                "queries": [[query["qid"], query["query"], query["file"]] for query in part["queries"]],
            }
        )
        if len(part["queries"]) < part["total"]:
            notes.append(
                f"{section.title}: an even sample of {len(part['queries']):,d} of {part['total']:,d} queries is here; "
                "the others are in the study’s Parquet files."
            )
        if not beside:
            for number, query in enumerate(part["queries"]):
                text = (folder / query["file"]).read_text(encoding="utf-8")
                inside[f"q{place}-{number}"] = Markup(text.removeprefix("ragrelay.query(").removesuffix(");\n"))
    if beside:
        notes.append(
            "The explorer’s data would make this page too large: it is read from the folder explorer/ next to the "
            "page, a file per query, when a query is chosen. Keep both together."
        )
    return Explorer({"sections": parts}, inside, tuple(notes))


def explorer_json(found: Explorer) -> Markup:
    return Markup(script_json(found.index))
