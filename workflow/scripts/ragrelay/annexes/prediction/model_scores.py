"""Read models' scores for contexts from the tables that other jobs wrote."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.coverage import count_missing
from ragrelay.base.io.parquet_files import read_parquet

LOGPROB, RERANKER, CROSS_ENCODER, JUDGE, QUALITY = "logprob", "reranker", "cross_encoder", "judge", "quality"
"""Names of passage scores: log-probability per token after the query, a reranker's score, BERT-QPP's cross-encoder
score, a judge's label, and the quality from a file."""
OF_PASSAGES = (JUDGE, QUALITY)
"""Passage scores that don't depend on the text that the prompt shows for a passage."""
PASSAGES = ("passages of contexts", "passages of contexts without a quality in the file (left out)")
"""Names of two counts: passages that need a quality value, and passages for which the file has none."""
Scores = dict[str, list[float | None]]


@dataclass(frozen=True)
class ModelScores:
    """Models' scores for passages, contexts and answers, keyed by qid.

    For each query, ``passages`` maps a score's name to the passages' scores in rank order; ``wholes`` maps k to the
    score of the complete context; ``consistencies`` maps a scorer to the answers' consistency by ordering and k.
    """

    passages: Mapping[str, Scores] = field(default_factory=dict)
    wholes: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    consistencies: Mapping[str, Mapping[str, Mapping[tuple[str, int], float]]] = field(default_factory=dict)


def model_scores(
    contexts: pl.DataFrame, files: Mapping[str, str | Path], consistency: Mapping[str, str | Path]
) -> ModelScores:
    """Read all models' scores for ``contexts`` (qid, rank, docno).

    ``files``: paths keyed by likelihoods, reranker, cross_encoder, judge or quality (all optional); ``consistency``:
    paths keyed by scorer.
    """
    by_name = {}
    wholes: dict[str, dict[int, float]] = {}
    places = contexts.select("qid", "rank", "docno")
    if path := files.get("likelihoods"):
        table = pl.read_parquet(path).with_columns(score=pl.col("logprob") / pl.col("tokens"))
        by_name[LOGPROB] = table.drop_nulls("rank").select("qid", "rank", "score")
        for qid, k, score in table.drop_nulls("k").select("qid", "k", "score").iter_rows():
            wholes.setdefault(qid, {})[k] = score
    for name in (RERANKER, CROSS_ENCODER):
        if path := files.get(name):
            by_name[name] = places.join(pl.read_parquet(path), on=["qid", "docno"])
    if path := files.get(JUDGE):
        labels = pl.read_parquet(path)
        gain = labels["gain"] if "gain" in labels.columns else labels["label"]
        by_name[JUDGE] = places.join(labels.select("qid", "docno", score=gain), on=["qid", "docno"])
    if path := files.get(QUALITY):
        by_name[QUALITY] = places.join(read_quality(Path(path)).rename({QUALITY: "score"}), on="docno")
    passages: dict[str, Scores] = {}
    for name, scores in by_name.items():
        known = scores.select("qid", "rank", "score")
        placed = places.join(known, on=["qid", "rank"], how="left", maintain_order="left").sort("qid", "rank")
        for qid, of_query in placed.group_by("qid", maintain_order=True).agg("score").iter_rows():
            passages.setdefault(qid, {})[name] = of_query
    consistencies: dict[str, dict[str, dict[tuple[str, int], float]]] = {}
    for scorer, path in consistency.items():
        for qid, ordering, k, value in pl.read_parquet(path).select("qid", "ordering", "k", "agreement").iter_rows():
            consistencies.setdefault(qid, {}).setdefault(scorer, {})[ordering, k] = value
    return ModelScores(passages, wholes, consistencies)


def check_quality(path: Path, contexts: Iterable[str | Path], k: int) -> list[dict[str, object]]:
    """Count the passages in contexts for which the file ``path`` has no quality value (keys what, count and of).

    ``contexts``: files that list contexts' passages (rank, docno). Passages at ranks up to ``k`` need a quality value,
    and so do passages without a rank, which come from imported answers. Raises InputError if the file is invalid or has
    no quality value for any of the passages.
    """
    quality = read_quality(path)
    needed = pl.concat(
        pl.read_parquet(file, columns=["rank", "docno"]).filter(pl.col("rank").is_null() | (pl.col("rank") <= k))
        for file in contexts
    )["docno"].unique()
    known = quality.drop_nulls(QUALITY).filter(pl.col("docno").is_in(needed.implode()))
    first = f"first docno: {quality['docno'][0]!r}"
    expected = "docnos of the dataset's passages"
    return [count_missing(path, known.height, len(needed), PASSAGES, first, expected)]


def read_quality(path: Path) -> pl.DataFrame:
    """Read the columns docno and quality from a Parquet file; a passage's quality may be null.

    Raises InputError if the file isn't Parquet or has no rows, if a docno is null or duplicated, or if a quality isn't
    a finite number.
    """
    table = read_parquet(path, "a Parquet file with columns docno and quality", ("docno", QUALITY))
    if not table.schema[QUALITY].is_numeric():
        raise InputError(f"{path}, column {QUALITY}", str(table.schema[QUALITY]), "numbers")
    if table.is_empty():
        raise InputError(path, "no rows", "at least one row")
    table = table.select(pl.col("docno").cast(pl.String), pl.col(QUALITY).cast(pl.Float64))
    if (nulls := table["docno"].is_null()).any():
        raise InputError(f"{path}, row {nulls.arg_true()[0] + 1}, column docno", "a null", "a docno")
    if (odd := ~table[QUALITY].is_finite().fill_null(True)).any():
        found = str(table.filter(odd)[QUALITY][0])
        raise InputError(f"{path}, row {odd.arg_true()[0] + 1}, column {QUALITY}", found, "a finite number or null")
    if (again := table.filter(table["docno"].is_duplicated())).height:
        raise InputError(path, f"duplicate docno {again['docno'][0]!r}", "unique docnos")
    return table
