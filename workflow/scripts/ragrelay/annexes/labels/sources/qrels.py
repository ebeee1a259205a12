"""Use the dataset's judgements as labels."""

from pathlib import Path

import polars as pl

from ragrelay.annexes.labels.source import AnnotationSource, SourceData


class Qrels(AnnotationSource):
    """The dataset's judgements. An unjudged passage has label 0. nDCG uses the labels; other measures count a passage
    as relevant if its label is at least the dataset's lowest reference grade.
    """

    graded, judge = True, True

    def highest(self, data: SourceData) -> float:
        """Return the highest label in the dataset's judgements, but at least 1."""
        return max(1.0, float(data.qrels["label"].max() or 1))  # type: ignore[arg-type]

    def known_pairs(self, qrels: pl.DataFrame, made: str | Path | None) -> pl.DataFrame:
        """Return the query-passage pairs that have a judgement."""
        return qrels.select("qid", "docno")

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label each passage with its grade; unjudged passages and negative grades become 0."""
        judged = data.passages.join(data.qrels, on=["qid", "docno"], how="left", maintain_order="left")
        return data.everywhere(judged.with_columns(pl.col("label").fill_null(0).clip(lower_bound=0)))
