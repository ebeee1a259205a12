"""Prepare the query explorer's data for the page. Large data stays in separate files, which the page loads."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from markupsafe import Markup

from ragrelay.base.vocabulary.columns import CELL
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display.script_json import script_json
from ragrelay.report.display.sections import Section
from ragrelay.report.query_explorer.write import INDEX
from ragrelay.report.study import ReportedStudy

MOST_BYTES = 5_000_000
"""Data with more bytes goes to files next to the page, so that the page stays below 10 MB."""


@dataclass(frozen=True)
class Explorer:
    """The query explorer's data and notes for a page."""

    index: Mapping[str, object] = field(default_factory=dict)
    """The data that the script needs immediately."""
    inside: Mapping[str, Markup] = field(default_factory=dict)
    """The queries' JSON, keyed by the id of the element that holds it."""
    notes: tuple[str, ...] = ()

    @property
    def beside(self) -> bool:
        """Return whether the page loads the queries from separate files."""
        return bool(self.index) and not self.inside


def explorer(study: ReportedStudy, page: Path) -> Explorer:
    """Prepare the query explorer for the page at ``page``. Return an empty Explorer if the study has no such data."""
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
                "colours": {name: look.colour for name, look in section.looks.items()},
                "pair": _pair(section),
                "means": _means(section, [query["qid"] for query in part["queries"]]),
                "queries": [[query["qid"], query["query"], query["file"]] for query in part["queries"]],
            }
        )
        if len(part["queries"]) < part["total"]:
            notes.append(
                f"{section.title}: this page has an evenly spaced sample of {len(part['queries']):,d} of "
                f"{part['total']:,d} queries; the others are in the study’s Parquet files."
            )
        if not beside:
            for number, query in enumerate(part["queries"]):
                text = (folder / query["file"]).read_text(encoding="utf-8")
                inside[f"q{place}-{number}"] = Markup(text.removeprefix("ragrelay.query(").removesuffix(");\n"))
    if beside:
        notes.append(
            "The explorer’s data would make this page too large. Instead, the page reads a query’s file in explorer/ "
            "(next to the page) when you choose the query. Keep the page and the folder together."
        )
    return Explorer({"sections": parts}, inside, tuple(notes))


def _pair(section: Section) -> list[str]:
    """Return the pair that is compared first: the primary pair, or the first retriever and zero-shot."""
    pair = section.primary
    return [pair.retriever, pair.reference] if pair else [section.grid.retrievers[0], ZEROSHOT]


def _means(section: Section, qids: Sequence[str]) -> Mapping[str, object]:
    """Return each cell's P, parallel to ``qids``, and the index of its P_0 in ``p0``, keyed by the cell as JSON."""
    shown = section["per_query"].filter(pl.col("qid").is_in(qids), pl.col("ordering").is_in(section.grid.drawn))
    cells, p0 = {}, []
    for key, rows in shown.group_by(CELL, maintain_order=True):
        values = {qid: (p, base) for qid, p, base in rows.select("qid", "p", "p0").iter_rows()}
        p, base = ([_rounded(values.get(qid, (None, None))[place]) for qid in qids] for place in (0, 1))
        if base not in p0:
            p0.append(base)
        cells[json.dumps(key, ensure_ascii=False, separators=(",", ":"))] = [p0.index(base), p]
    return {"cells": cells, "p0": p0}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def explorer_json(explorer: Explorer) -> Markup:
    return Markup(script_json(explorer.index))
