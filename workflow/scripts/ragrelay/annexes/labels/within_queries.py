"""Test, within each query, whether contexts with better labels give better answers, for every annotation source."""

from collections.abc import Collection, Mapping

import polars as pl

from ragrelay.analysis import within
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.base.vocabulary.columns import STUDY_PART, schema_of, text
from ragrelay.base.vocabulary.orderings import DESCENDING

TABLE = {"source": text("name of the annotation source"), **within.TABLE}
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of label_within.csv."""
CONSTANT = "all passages of a query have the same label"


def label_within(
    values: pl.DataFrame, utility: pl.DataFrame, kinds: Mapping[str, str], constant: Collection[str]
) -> pl.DataFrame:
    """Correlate P with each source's measures within queries, that is, over the retrievers' contexts for a query.

    Returns the columns in SCHEMA. ``values`` has the columns values.SCHEMA; ``utility`` is the utility table, of which
    only rows in descending order are used; ``kinds``: each retriever's kind. A row has a reason instead of r if the
    source's labels are ``constant`` within a query, or if the measure is undefined for the labels.
    """
    ends = utility.filter(ordering=DESCENDING)
    frames = [pl.DataFrame(schema=SCHEMA)]
    for (source, references, measure), part in values.group_by("source", "references", "measure", maintain_order=True):
        of_set = ends.filter(references=references)
        known = part.drop_nulls("value")
        if source not in constant and known.height:
            table = within.within_queries(of_set, known, kinds)
        else:
            reason = CONSTANT if source in constant else f"{measure} is not defined for these labels"
            missing = {"ordering": DESCENDING, "references": references, "measure": measure, "verdict": UNDECIDED}
            rows = [
                missing | {"k": k, "retrievers": group, "n_retrievers": len(names), "reason": reason}
                for group, names in within.members(kinds).items()
                for k in part["k"].unique().sort()
            ]
            table = pl.DataFrame(rows, schema=within.SCHEMA)
        frames.append(table.select(pl.lit(source).alias("source"), "*"))
    return pl.concat(frames)
