"""Take labels from the dataset's judgements."""

from pathlib import Path

import polars as pl

from ragrelay.annexes.labels.source import AnnotationSource, SourceData


class Qrels(AnnotationSource):
    """The dataset's judgements. A passage without one has label 0; nDCG takes the grades, the other measures count
    labels at or above the dataset's lowest reference grade."""

    graded, judge = True, True

    def highest(self, data: SourceData) -> float:
        """Return the highest grade of the dataset."""
        return max(1.0, float(data.qrels["label"].max() or 1))  # type: ignore[arg-type]

    def known_pairs(self, qrels: pl.DataFrame, made: str | Path | None) -> pl.DataFrame:
        """Return the (query, passage) pairs that have a judgement."""
        return qrels.select("qid", "docno")

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label by grade: 0 for passages without a judgement and for negative grades."""
        judged = data.passages.join(data.qrels, on=["qid", "docno"], how="left", maintain_order="left")
        return data.everywhere(judged.with_columns(pl.col("label").fill_null(0).clip(lower_bound=0)))
