"""Build the page's tables about human scores."""

import polars as pl

from ragrelay.annexes.people.study import PeopleStudy
from ragrelay.report.display.numbers import count, number, p_value
from ragrelay.report.display.tables import REMARK, Table, between, depth, name, numeric, table_of

AGREED = {
    "r": "r over answers", "rho": "ρ over answers", "tau": "τ over systems", "tau_ap": "τ_AP over systems",
    "length": "bias per doubling of words", "generator": "bias for a generator",
    "kappa_weighted": "κ, quadratic weights", "alpha": "α over all assessors",
}  # fmt: skip
"""What the page calls each quantity."""
OF_QUANTITY = name("quantity", "words")
P = numeric("p", "p_value", p_value)
QUERIES = numeric("queries", "n_queries", count)


def estimate_table(study: PeopleStudy, most_rows: int | None = None) -> Table:
    """Show each estimate with and without the scorer's help, and how much the help narrows the interval."""
    frame = study["people_estimates"].with_columns(no_interval=pl.col("low").is_null()).sort(
        "no_interval", maintain_order=True
    )  # fmt: skip
    return table_of(
        frame, name("generator"), name("scorer"), name("quantity"), name("retriever"), name("ordering"), depth(),
        name("against", "against_retriever"), name("verdict"), between("with the scorer", "value"),
        between("human scores alone", "alone", ends=("alone_low", "alone_high")), numeric("width", "width", number, 2),
        numeric("times as many", "as_many", number, 2), numeric("r", "r", number, 2), numeric("weight", "weight"), P,
        numeric("scores", "n_scores", count), QUERIES, numeric("answers", "n_answers", count), REMARK,
        most=most_rows, later=pl.col("no_interval"),
    )  # fmt: skip


def agreement_table(study: PeopleStudy, most_rows: int | None = None) -> Table:
    """Show how well scorers agree with people, with a row per scorer and quantity."""
    return table_of(
        _worded(study["people_agreement"]), name("scorer"), OF_QUANTITY, name("of"), between("value", "value", 2), P,
        numeric("answers or systems", "n", count), QUERIES, REMARK, most=most_rows,
    )  # fmt: skip


def comparison_table(study: PeopleStudy, most_rows: int | None = None) -> Table:
    """Show which scorers agree better with people, with a row per quantity and pair of scorers."""
    return table_of(
        _worded(study["people_comparisons"]), name("scorer"), name("against"), OF_QUANTITY,
        between("difference", "difference", 2), P, numeric("answers or systems", "n", count), QUERIES, REMARK,
        most=most_rows,
    )  # fmt: skip


def assessor_table(study: PeopleStudy, most_rows: int | None = None) -> Table:
    """Show agreement between assessors, with a row per pair and a row for all assessors."""
    return table_of(
        _worded(study["assessors"]), OF_QUANTITY, name("assessor"), name("against"), between("value", "value", 2),
        numeric("answers", "n", count), QUERIES, REMARK, most=most_rows,
    )  # fmt: skip


def _worded(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(words=pl.col("quantity").replace_strict(AGREED, default=pl.col("quantity")))
