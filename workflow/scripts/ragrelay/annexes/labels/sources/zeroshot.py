"""Label passages with the zero-shot score, which ignores the passages and is therefore the null for other sources."""

from collections.abc import Mapping

import polars as pl

from ragrelay.annexes.labels.source import BY_ZEROSHOT, AnnotationSource, SourceData
from ragrelay.base.vocabulary.names import UNSEEN, ZEROSHOT


class Zeroshot(AnnotationSource):
    """Labels every passage of a query with P₀: a baseline that can predict P without knowing the passages.

    Other sources must beat this baseline. All passages of a query have the same label, so there is no nDCG and no
    correlation within queries. Unseen reference sets use the complete set's P_0, because a P_0 that excludes a
    passage's references would reveal which passages are references.
    """

    constant = True

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]]:
        """Return the job that writes the zero-shot answers' scores."""
        return BY_ZEROSHOT, {"retriever": ZEROSHOT}

    def whole(self, catalogue: Mapping[str, Mapping[str, object]]) -> bool:
        """Return False, because labels are scores from 0 to 1."""
        return False

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label passages with the zero-shot answer's mean score over seeds; as in eRAG, negative scores become 0."""
        scores = data.table.sort("qid", "seed").with_columns(pl.max_horizontal("f1", pl.lit(0.0)).alias("label"))
        means = scores.group_by("references", "qid", maintain_order=True).agg("label")
        means = means.with_columns(pl.col("label").list.mean())
        frames = [
            data.passages.join(means.filter(references=name.removesuffix(UNSEEN)), on="qid", maintain_order="left")
            .with_columns(pl.lit(name).alias("references"))
            .select("references", "qid", "docno", "label")
            for name in data.references
        ]
        return pl.concat(frames)
