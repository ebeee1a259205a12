"""The annotation sources of a dataset x generator x scorer, from the study's files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annotations.checks import parts
from ragrelay.annotations.single_answers import PASSAGE
from ragrelay.annotations.sources import Sources
from ragrelay.annotations.values import label_values
from ragrelay.scoring.reference_sets import read_gold

File = str | Path


def measure_sources(
    contexts: Mapping[str, File],
    queries: File,
    qrels: File,
    made: Mapping[str, File],
    annotations: Mapping[str, Mapping[str, Any]],
    names: Sequence[str],
    references: Sequence[str],
    measures: Sequence[str],
    ks: Sequence[int],
    depth: int,
    lowest_grade: int,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels (sources.LABELS) and values (values.SCHEMA) of the sources ``names`` of the catalogue ``annotations``.

    ``contexts``: files by retriever; ``made``: files of labels by the source that they are of; ``references``: the
    reference sets of P; ``lowest_grade``: the lowest label of the qrels that binary measures count.
    """
    columns = ["qid", "rank", "docno", "text"]
    rankings = {
        name: pl.read_parquet(path, columns=columns).filter(pl.col("rank") <= depth) for name, path in contexts.items()
    }
    kinds = {name: annotations[name]["kind"] for name in parts(annotations, list(names))}
    gold = read_gold(queries) if "containment" in kinds.values() else {}
    sources = Sources(
        passages=pl.concat(rankings.values()).unique(PASSAGE, keep="first", maintain_order=True),
        qrels=pl.read_parquet(qrels),
        gold={qid: query.texts for qid, query in gold.items()},
        made={name: pl.read_parquet(path) for name, path in made.items()},
        references=references,
    )
    labels = sources.labels(annotations, names)
    relevant = {name: float(lowest_grade) for name, kind in kinds.items() if kind == "qrels"}
    return labels, label_values(rankings, labels, measures, ks, relevant)
