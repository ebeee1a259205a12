"""Weaken a panel's verdicts until they hold no matter which judge is left out."""

import math
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.analysis.relay import REVERSED
from ragrelay.analysis.verdicts import (
    ABOVE,
    BELOW,
    BETTER,
    EQUIVALENT,
    LITTLE_BETTER,
    LITTLE_WORSE,
    MUCH_BETTER,
    MUCH_WORSE,
    NOT_BETTER,
    NOT_WORSE,
    TOO_FEW,
    UNDECIDED,
    WORSE,
)
from ragrelay.base.vocabulary.names import WITHOUT_JUDGE

CLAIMS = {
    MUCH_BETTER: (1.0, math.inf), BETTER: (0.0, math.inf), LITTLE_BETTER: (0.0, 1.0), EQUIVALENT: (-1.0, 1.0),
    NOT_WORSE: (-1.0, math.inf), NOT_BETTER: (-math.inf, 1.0), LITTLE_WORSE: (-1.0, 0.0), WORSE: (-math.inf, 0.0),
    MUCH_WORSE: (-math.inf, -1.0), UNDECIDED: (-math.inf, math.inf),
}  # fmt: skip
"""The values, in margins, that each verdict on a difference leaves possible."""
SIGNS = {ABOVE: (0.0, math.inf), BELOW: (-math.inf, 0.0), UNDECIDED: (-math.inf, math.inf)}
"""The values that each verdict on a slope or correlation leaves possible."""
KEYS = ("scorer", "dataset", "question", "generators", "retrievers", "retriever", "against_retriever", "role",
        "ordering", "k", "references", "measure", "against_measure", "labelling", "adjusted", "subset",
        "coefficient")  # fmt: skip
"""Columns that identify a table's rows, as far as the table has them."""
DEPENDS = "it depends on a judge: the result is “{verdict}” with all judges, but not without {judges}"


def shared_verdict(*verdicts: str) -> str:
    """Return the strongest verdict that all ``verdicts`` support, or undecided if they contradict each other.

    The shared verdict rules out only values that every verdict rules out; ``too few queries`` rules out none.
    """
    claims = SIGNS if {*verdicts} & {ABOVE, BELOW} else CLAIMS
    known = [claims.get(verdict, claims[UNDECIDED]) for verdict in verdicts]
    possible = min(low for low, _ in known), max(high for _, high in known)
    return next(verdict for verdict, claim in claims.items() if claim == possible)


def bounded(table: pl.DataFrame, parts: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Weaken the verdicts in a panel's ``table`` until they hold no matter which judge is left out.

    If a verdict changes, ``remark`` (``reason`` in tables without a remark) names the judges without whom the verdict
    fails. ``stands`` becomes false if it is false in any of ``parts``, and null if the new verdict is undecided.

    Args:
        table: The panel's result table; if it has no column ``verdict``, it is returned unchanged.
        parts: Tables that leave out a judge, keyed by judge. Rows are matched by KEYS; missing rows count as undecided.

    Returns:
        ``table`` with the strongest verdicts that all tables support; estimates don't change.
    """
    if "verdict" not in table.columns or not parts:
        return table
    keys = [name for name in KEYS if name in table.columns]
    of_parts = table.select(keys)
    for judge, part in parts.items():
        said = [name for name in ("verdict", "stands") if name in part.columns]
        own = _believed(part).select(*keys, *(pl.col(name).alias(f"{name} {judge}") for name in said))
        of_parts = of_parts.join(own, on=keys, how="left", validate="1:1", nulls_equal=True, maintain_order="left")
    remark = "remark" if "remark" in table.columns else "reason"
    rows = []
    for row, of_part in zip(table.iter_rows(named=True), of_parts.iter_rows(named=True), strict=True):
        if row["verdict"] in (None, TOO_FEW, UNDECIDED):
            rows.append(row)
            continue
        verdicts = {judge: of_part[f"verdict {judge}"] or UNDECIDED for judge in parts}
        shared = shared_verdict(row["verdict"], *verdicts.values())
        bound: dict[str, object] = {"verdict": shared}
        if shared != row["verdict"]:
            failing = [one for one, said in verdicts.items() if shared_verdict(row["verdict"], said) != row["verdict"]]
            bound[remark] = DEPENDS.format(verdict=row["verdict"], judges=" or ".join(failing))
        if "stands" in row:
            standing = [row["stands"], *(of_part[f"stands {judge}"] for judge in parts)]
            bound["stands"] = None if shared == UNDECIDED else False not in standing
        rows.append(row | bound)
    return pl.DataFrame(rows, schema=table.schema)


def _believed(part: pl.DataFrame) -> pl.DataFrame:
    """Make relay's slopes below zero undecided unless their p-values are as small as relay.answer_of requires."""
    if not {"p_value", "adjusted"} <= {*part.columns}:
        return part
    doubtful = (pl.col("verdict") == BELOW) & (pl.col("p_value").fill_null(1.0) >= REVERSED)
    return part.with_columns(verdict=pl.when(doubtful).then(pl.lit(UNDECIDED)).otherwise("verdict"))


def read_parts(paths: Mapping[str, Path], table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Read the tables in ``paths`` (keyed by scorer), each computed without one judge, and key them by that judge."""
    types = dict(table.schema)
    return {part.split(WITHOUT_JUDGE)[1]: pl.read_csv(path, schema_overrides=types) for part, path in paths.items()}


def without_parts(table: pl.DataFrame) -> pl.DataFrame:
    """Weaken the verdicts of each panel in ``table`` (see ``bounded``), and drop the rows that leave out a judge."""
    placed = table.with_row_index("place")
    of_scorer = {str(name): rows for (name,), rows in placed.group_by("scorer", maintain_order=True)}
    tables = [placed.clear()]
    for scorer, rows in of_scorer.items():
        of_parts = {name: part for name, part in of_scorer.items() if name.startswith(f"{scorer}{WITHOUT_JUDGE}")}
        parts = {
            name.split(WITHOUT_JUDGE)[1]: part.with_columns(scorer=pl.lit(scorer)) for name, part in of_parts.items()
        }
        tables += [] if WITHOUT_JUDGE in scorer else [bounded(rows, parts)]
    return pl.concat(tables).sort("place").drop("place")
