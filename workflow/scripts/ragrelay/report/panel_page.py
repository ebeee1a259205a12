"""Show on the page whether the results for a panel of judges depend on any single judge."""

from collections.abc import Mapping
from typing import Any

from ragrelay.analysis.panel import SYSTEMS
from ragrelay.analysis.panel_verdicts import DEPENDS
from ragrelay.analysis.systems import PRIMARY
from ragrelay.analysis.verdicts import TOO_FEW, UNDECIDED
from ragrelay.report.display.findings import Warned
from ragrelay.report.display.numbers import count, listing, number, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.display.tables import Table, between, name, numeric, table_of, textual, yes_no
from ragrelay.report.facts import TableRow
from ragrelay.report.outputs import RESULT_TABLES

ALL_JUDGES = "none"
"""Shown as the left-out judge if there is none."""
KEY = ("question", "adjusted", "without")


def panel_table(section: Section) -> Table:
    """Build the table of the primary pair's difference and relay's slopes, for all judges and without each judge."""
    return table_of(
        section["panel"], name("question"), yes_no("adjusted", "adjusted"),
        textual("judge left out", lambda row: row["without"] or ALL_JUDGES), name("verdict"),
        numeric("difference in P, or P per 0.1", lambda row: row, _estimate),
        numeric("with this judge alone", lambda row: row["alone"] and row["alone"] / _per(row)),
        numeric("queries", "n", count), textual("remark", "reason"),
    )  # fmt: skip


def agreement_table(section: Section) -> Table:
    """Build the table of agreement (κ and Spearman's ρ) between each pair of judges."""
    return table_of(
        section["panel_agreement"], textual("judge", "judge"), textual("other judge", "other_judge"),
        between("κ of yes and no", "kappa", 2), numeric("ρ", "rho", number, 2),
        numeric("mean score", "mean", number, 2), numeric("other mean score", "other_mean", number, 2),
        numeric("answers", "n", count), numeric("queries", "n_queries", count), textual("remark", "reason"),
    )  # fmt: skip


def _per(row: Mapping[str, object]) -> float:
    return 1.0 if row["question"] == SYSTEMS else 10.0


def _estimate(row: Mapping[str, Any]) -> str:
    value, low, high = (None if row[end] is None else row[end] / _per(row) for end in ("estimate", "low", "high"))
    return with_interval(value, low, high)


def panel_finding(section: Section) -> str:
    """State whether the primary pair's verdict depends on any single judge, if the scorer is a panel."""
    if not (rows := _of_pair(section)):
        return ""
    pair = section["systems"].filter(role=PRIMARY).row(0, named=True)
    names = pair["retriever"], pair["against_retriever"]
    between = f"leaving out one judge gives a difference in P ({' − '.join(names)}) of {_range(rows)}"
    if pair["verdict"] in (UNDECIDED, TOO_FEW):
        head, _, why = str(pair["remark"] or "").partition(": ")
        depends = head == DEPENDS.partition(":")[0]
        return f"It does: {why}; {between}" if depends else f"Undecided with all judges; {between}"
    return f"It does not: {pair['verdict']} with all judges and with any judge left out; {between}"


def panel_warning(section: Section) -> list[Warned]:
    """Warn that P is the judges' mean, and give the range of the primary pair's difference if one judge is left out."""
    if not (rows := _of_pair(section)):
        return []
    judges, table = listing([row["without"] for row in rows]), RESULT_TABLES["panel"]
    text = f"P is the mean over the judges {judges}. Leaving out one judge gives a difference in P of {_range(rows)}."
    return [Warned("Panel of judges", text, tuple(TableRow(table, section.keys, row, KEY) for row in rows))]


def _of_pair(section: Section) -> list[dict[str, Any]]:
    """Return the primary pair's rows in which a judge is left out."""
    if "panel" not in section.tables:
        return []
    rows = section["panel"].filter(question=SYSTEMS).drop_nulls(["without", "estimate"])
    return list(rows.iter_rows(named=True))


def _range(rows: list[dict[str, Any]]) -> str:
    ends = [number(of(row["estimate"] for row in rows), 3) for of in (min, max)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
