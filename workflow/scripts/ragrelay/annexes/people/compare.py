"""Build the tables that compare scorers with human scores of a dataset's answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.analysis.clusters import Clusters
from ragrelay.annexes.people import assessors, estimates, following
from ragrelay.annexes.people.layout import laid_out
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.names import NO_ORDERING
from ragrelay.scoring.filed_scores import generated
from ragrelay.scoring.score_files import ANSWER, mean_scores, of_answers

UNNAMED = "nobody named"
"""The name used if a score doesn't name its assessor."""


def answers_of(files: KeyedFiles) -> pl.DataFrame:
    """Read all answers (columns ANSWER, answer, words). Files are keyed by generator, retriever, ordering and k."""
    tables = [generated(files.matching(generator=name), name) for name in files.grouped("generator")]
    words = pl.col("answer").str.split(" ").list.eval(pl.element().filter(pl.element() != "")).list.len()
    return pl.concat(tables).with_columns(words=words.cast(pl.Int64))


def scores_of(files: KeyedFiles, references: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Read each scorer's scores against a reference set. ``references``: the reference set's name, keyed by scorer."""
    tables: dict[str, list[pl.DataFrame]] = {name: [] for name in references}
    for key, path in files.keyed:
        rows = pl.read_parquet(path, columns=["qid", "ordering", "k", "seed", "references", "f1"]).filter(
            pl.col("references") == references[key["scorer"]],
            # Zero-shot answers in a retriever's file are baselines of unseen references.
            (pl.col("ordering") == NO_ORDERING) == (key["retriever"] == "zeroshot"),
        )
        named = [pl.lit(key[name]).alias(name) for name in ("generator", "retriever")]
        scores = rows.drop_nulls("f1").with_columns(*named, value=pl.col("f1").cast(pl.Float64))
        tables[key["scorer"]].append(scores.select(*ANSWER, "value"))
    return {name: pl.concat(frames) for name, frames in tables.items()}


def measures_of(files: KeyedFiles, measure: str) -> estimates.Measures:
    """Return each query's value of ``measure``; the outer keys are retriever and k."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for key, path in files.keyed:
        rows = pl.read_parquet(path).filter(measure=measure).drop_nulls("value")
        for qid, k, value in rows.select("qid", "k", "value").iter_rows():
            found.setdefault((key["retriever"], k), {})[qid] = value
    return found


def compare_people(
    rows: pl.DataFrame,
    answers: pl.DataFrame,
    scores: Mapping[str, pl.DataFrame],
    people: str,
    pairs: Sequence[tuple[str, str]],
    measures: estimates.Measures,
    clusters: Clusters | None,
) -> dict[str, pl.DataFrame]:
    """Compare scorers with human scores. Returns the tables, keyed by name, without the column dataset.

    ``rows``: human scores (score_files.ROWS). ``answers``, ``scores`` and ``measures``: the results of answers_of,
    scores_of and measures_of. ``people``: the scorer with the human scores. ``pairs``: pairs of retrievers to compare.
    """
    own, _ = of_answers(mean_scores(rows), answers)
    assessed = (
        rows.drop_nulls("value")
        .select(*ANSWER, pl.col("assessor").fill_null(UNNAMED), part=1.0 / pl.len().over(ANSWER))
        .join(own, on=ANSWER, how="semi", maintain_order="left")
    )
    paired = following.paired_answers(own, scores, answers.select(*ANSWER, "words"), clusters)
    named = {"people": people}
    estimated = [
        estimates.estimates(laid_out(own, scores, generator, clusters, assessed), people, pairs, measures).with_columns(
            generator=pl.lit(generator)
        )
        for generator in answers["generator"].unique(maintain_order=True)
    ]
    made: dict[str, tuple[Any, list[dict[str, Any]]]] = {
        "people_agreement": (following.AGREEMENT_COLUMNS, [named | row for row in following.agreement(paired, scores)]),
        "people_comparisons": (
            following.COMPARISON_COLUMNS,
            [named | row for row in following.comparisons(paired, scores)],
        ),
        "assessors": (assessors.COLUMNS, [named | row for row in assessors.assessors_table(rows, clusters)]),
    }
    tables = {name: pl.DataFrame(found, schema=schema_of(columns)).drop("dataset")
              for name, (columns, found) in made.items()}  # fmt: skip
    return {"people_estimates": pl.concat(estimated), **tables}
