"""Combine a scorer's tables on annotation sources across datasets, generators and retrievers.

The tables include Table 1 of Salemi and Zamani, SIGIR 2024.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.labels import choices as of_choices
from ragrelay.annexes.labels.agreement import COLUMNS as AGREEMENT
from ragrelay.annexes.labels.agreement import CONFUSION_COLUMNS
from ragrelay.annexes.labels.correlation import COLUMNS as CORRELATIONS
from ragrelay.annexes.labels.leads import BEST, COLUMN, with_holds
from ragrelay.annexes.labels.leads import COLUMNS as LEADS
from ragrelay.annexes.labels.powered import COLUMNS as POWERED
from ragrelay.annexes.labels.within_queries import COLUMNS as WITHIN
from ragrelay.base.vocabulary.columns import STUDY_PART, adjusted, boolean, read_rows, text

KEY = ("dataset", "generator")
TABLE_COLUMNS = {
    **STUDY_PART,
    "kind": text("kind of the annotation source"),
    **CORRELATIONS,
    "best": boolean("whether the correlation is the highest among the rows with the same dataset, generator, "
                    "retriever, k, references, quantity and coefficient"),
    "holds": boolean("whether the correlation is the highest (see `best`) and significantly higher than the best of "
                     "every other source (`p_holm` < 0.05 in the table of leads)"),
}  # fmt: skip
"""Columns of the report's table ``annotations``."""
LEADS_COLUMNS = {**LEADS, **adjusted(), "holds": boolean("whether the lead is significant (`p_holm` below 0.05)")}
"""Columns of the report's table ``annotation_leads``."""

TRUST = {"agreement": AGREEMENT, "confusion": CONFUSION_COLUMNS, "powered": POWERED}
"""Columns of the tables on trust in judges, keyed by file name."""


def gather(
    correlations: Sequence[str | Path],
    leads: Sequence[str | Path],
    within: Sequence[str | Path],
    choices: Sequence[str | Path],
    kinds: Mapping[str, str],
    trust: Mapping[str, Sequence[str | Path]] | None = None,
) -> dict[str, pl.DataFrame]:
    """Read a study's files into the report's tables, keyed by name.

    ``kinds``: each source's kind; ``trust``: files, keyed by the names in TRUST. In the table ``annotations``,
    ``holds`` is true for a column's best row if its lead is significant after Holm's correction.
    """
    rows, tested = read_rows(correlations, CORRELATIONS), with_holds(read_rows(leads, LEADS))
    column = [*KEY, *COLUMN]
    marked = rows.join(
        tested.filter("holds", comparison=BEST).select(*column, "source", "measure", "holds"),
        on=[*column, "source", "measure"],
        how="left",
        maintain_order="left",
    )
    table = marked.with_columns(
        pl.col("source").replace_strict(dict(kinds), default=None, return_dtype=pl.String).alias("kind"),
        (pl.col("value") == pl.col("value").max().over(column)).fill_null(False).alias("best"),
        pl.col("holds").fill_null(False),
    )
    return {
        "annotations": table.select(*TABLE_COLUMNS),
        "annotation_leads": tested.select(*LEADS_COLUMNS),
        "annotation_within": read_rows(within, WITHIN),
        "annotation_choices": of_choices.with_adjusted(read_rows(choices, of_choices.COLUMNS)).select(
            *of_choices.CHOICES_COLUMNS
        ),
        **{f"annotation_{name}": read_rows((trust or {}).get(name, []), columns) for name, columns in TRUST.items()},
    }
