"""Relate the utility of answers to the positions of relevant passages in the prompt."""

from collections.abc import Mapping

import polars as pl
from scipy import stats

from ragrelay.analysis.correlation import is_constant
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import CELL_COLUMNS, INTERVAL, STUDY_PART, integer, number, schema_of, text
from ragrelay.generation.answer_files import CONTEXT, read_answers

NO_POSITION = 0
TABLE = {
    **CELL_COLUMNS,
    "relevant": text("number of relevant passages in the row's contexts: `any number` or `exactly one`"),
    "position": integer(
        "position of a relevant passage in the prompt, counted from 1; 0 for contexts without a relevant passage"
    ),
    "n": integer("number of queries with a context that matches `relevant` and `position`", "queries"),
    "mean_utility": number("mean utility of the `n` queries"),
    **INTERVAL,
}
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of positions.csv."""
ANY, ONE = "any number", "exactly one"


def utility_by_position(
    prompts: KeyedFiles,
    qrels: pl.DataFrame,
    utility: pl.DataFrame,
    grades: Mapping[str, int],
) -> pl.DataFrame:
    """Compute, for each position in the prompt, the mean utility of queries with a relevant passage there (SCHEMA).

    ``prompts`` holds the cells' files (qid, docnos in prompt order), ``qrels`` has qid, docno and label, ``utility`` is
    the utility table, and ``grades`` maps each grade to the lowest label that counts as relevant. Rows with "any
    number" include a query once for each position that has a relevant passage. Rows with "exactly one" include only
    contexts with a single relevant passage, so that no other passage could have helped.
    """
    placed = (
        read_answers(prompts, ["qid", "docnos"])
        .rename({"docnos": "docno"})
        .with_columns(pl.int_ranges(1, pl.col("docno").list.len() + 1).alias("position"))
        .explode("docno", "position")
    )
    labelled = placed.join(qrels.select("qid", "docno", "label"), on=["qid", "docno"], how="left")
    rows: list[dict[str, object]] = []
    for grade, label in grades.items():
        useful = utility.filter(pl.col("references") == grade, pl.col("utility").is_not_null())
        relevant = labelled.filter(pl.col("label") >= label).join(useful, on=[*CONTEXT, "qid"])
        without = useful.join(relevant, on=[*CONTEXT, "qid"], how="anti").join(placed, on=[*CONTEXT, "qid"], how="semi")
        alone = relevant.filter(pl.len().over([*CONTEXT, "qid"]) == 1)
        for kind, passages in ((ANY, relevant), (ONE, alone)):
            positions = pl.concat(
                [frame.select(*CONTEXT, "position", "qid", "utility") for frame in (_nowhere(without), passages)]
            ).sort(*CONTEXT, "position", "qid")
            for key, part in positions.group_by([*CONTEXT, "position"], maintain_order=True):
                names = dict(zip([*CONTEXT, "position"], key, strict=True))
                rows.append(names | {"references": grade, "relevant": kind} | _mean(part["utility"]))
    return pl.DataFrame(rows, schema=SCHEMA)


def _nowhere(without: pl.DataFrame) -> pl.DataFrame:
    return without.with_columns(pl.lit(NO_POSITION, pl.Int64).alias("position"))


def _mean(values: pl.Series) -> dict[str, object]:
    row: dict[str, object] = {"n": len(values), "mean_utility": values.mean(), "low": None, "high": None}
    if len(values) > 1 and not is_constant(values.to_numpy()):
        ends = stats.ttest_1samp(values.to_numpy(), 0).confidence_interval(0.95)
        row |= {"low": float(ends.low), "high": float(ends.high)}
    return row
