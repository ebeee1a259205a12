"""The recheck section of a study's page, built from the study's provenance."""

from collections.abc import Mapping
from typing import Any

from ragrelay.annexes.recheck.sentences import Record, recheck_answer, recheck_sentences
from ragrelay.annexes.recheck.summary import table
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.numbers import count, number
from ragrelay.report.display.page import Page
from ragrelay.report.display.tables import Table, between, filled, name, numeric, table_of, textual

KEY = "recheck"


def read(files: Mapping[str, KeyedFiles], inputs: Any, params: object) -> Record | None:
    """Return the recheck's record from the provenance, or None if there was no recheck."""
    record: Record | None = read_json(inputs.provenance).get(KEY)
    return record


def values(part: Record, page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``recheck.html.j2``."""
    shown = {"answer": recheck_answer(part), "sentences": recheck_sentences(part), "table": recheck_table(part)}
    return {KEY: {"anchor": KEY, **shown}}


def recheck_table(part: Record) -> Table:
    """Show the recheck's table, without empty columns."""
    return filled(table_of(
        table(part["rows"]), name("dataset"), name("generator"), name("scorer"), numeric("regenerated", "n", count),
        numeric("bit-identical", "n_equal", count), between("share", "equal", 2, ("equal_low", "equal_high")),
        numeric("equal when repeated", "n_equal_here", count),
        numeric("first difference after (median)", "median_until", number, 1), textual("unit", "unit"),
        name("references"),
        numeric("scored", "n_scored", count), numeric("flips", "n_flips", count), numeric("stored mean P", "p_then"),
        numeric("new mean P", "p_now"), between("change", "mean_difference"), numeric("queries", "n_queries", count),
        textual("verdict", "verdict"), textual("remark", "reason"),
    ))  # fmt: skip
