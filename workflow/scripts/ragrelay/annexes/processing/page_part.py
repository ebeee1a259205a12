"""The processors section of a study's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.processing.sentences import processing_answer, processing_sentences, processing_warnings, saved
from ragrelay.annexes.processing.study import ProcessingStudy, Row, read_processing
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.numbers import count, number, with_interval
from ragrelay.report.display.page import Page
from ragrelay.report.display.tables import Column, Table


def read(files: Mapping[str, KeyedFiles], inputs: object, params: Any) -> list[ProcessingStudy]:
    """Return the data for each section of the page. ``params``: values for the page (see rules.Processing.params)."""
    return read_processing(files, params)


def values(part: Sequence[ProcessingStudy], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``processing.html.j2``."""
    units = [
        {
            "anchor": f"processing{place}",
            "where": study.title,
            "answer": processing_answer(study),
            "sentences": processing_sentences(study),
            "table": processing_table(study),
        }
        for place, study in enumerate(part, 1)
    ]
    return {"processing": units}


def processing_table(study: ProcessingStudy) -> Table:
    """Show each processed retriever's tokens, P and gain before and after processing, with the difference in P."""
    columns = (
        Column("retriever", filtered=True, text=lambda row: row["retriever"]),
        Column("based on", filtered=True, text=lambda row: row["of"]),
        Column("k", True, True, text=lambda row: str(row["k"])),
        Column("tokens before", True, text=lambda row: number(row["tokens_before"], 0)),
        Column("tokens after", True, text=lambda row: number(row["tokens_after"], 0)),
        Column("tokens saved", True, text=_saved),
        Column("P before", True, text=lambda row: number(row["means"][0])),
        Column("P after", True, text=lambda row: number(row["means"][1])),
        Column("difference", True, text=lambda row: _of(row["pair"])),
        Column("verdict", filtered=True, text=lambda row: row["pair"]["verdict"] if row["pair"] else ""),
        Column("gain before", True, text=lambda row: _of(row["gains"][0])),
        Column("gain after", True, text=lambda row: _of(row["gains"][1])),
        Column("passages", True, text=lambda row: count(row["n_passages"])),
        Column("changed passages", True, text=lambda row: count(row["n_changed"])),
        Column("dropped passages", True, text=lambda row: count(row["n_emptied"])),
        Column("contexts", True, text=lambda row: count(row["n_contexts"])),
        Column("unchanged contexts", True, text=lambda row: count(row["n_contexts_same"])),
        Column("empty contexts", True, text=lambda row: count(row["n_contexts_emptied"])),
    )
    return Table(columns, [[column.text(row) for column in columns] for row in study.rows])


def _saved(row: Mapping[str, object]) -> str:
    kept = saved(row)
    return number(None) if kept is None else f"{number(100 * kept, 0)}%"


def _of(row: Row | None) -> str:
    return "" if row is None else with_interval(row["mean_difference"], row["low"], row["high"])


def warnings(part: Sequence[ProcessingStudy]) -> list[str]:
    """Warn about processors whose output isn't reproducible."""
    return list(dict.fromkeys(warning for study in part for warning in processing_warnings(study)))
