"""Annotation sources: whose labels of relevance a (query, passage) pair gets, all in one table."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.annotations.single_answers import PASSAGE
from ragrelay.errors import InputError
from ragrelay.scoring.squad import containment
from ragrelay.vocabulary.columns import DOCNO, QID, REFERENCES, real, schema_of, text

LABEL_COLUMNS = {
    "source": text("annotation source"),
    "references": REFERENCES,
    "qid": QID,
    "docno": DOCNO,
    "label": real("the source's label of the passage"),
}
LABELS = schema_of(LABEL_COLUMNS)
COMBINE = {
    "mean": pl.mean_horizontal,
    "min": pl.min_horizontal,
    "max": pl.max_horizontal,
}


class Sources:
    """What the sources of a dataset x generator x scorer are made of.

    ``passages``: qid, docno, text of every passage that is labelled; ``qrels``: qid, docno, label; ``gold``: gold
    answers by qid; ``made``: labels (references, qid, docno, label) by the name of the source that made them, where
    references may be null; ``references``: the reference sets that P is taken with.
    """

    def __init__(
        self,
        passages: pl.DataFrame,
        qrels: pl.DataFrame,
        gold: Mapping[str, Sequence[str]],
        made: Mapping[str, pl.DataFrame],
        references: Sequence[str],
    ) -> None:
        self.passages, self.qrels, self.gold = passages, qrels, gold
        self.made, self.references = made, list(references)

    def labels(self, catalogue: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> pl.DataFrame:
        """Labels by the sources ``names`` of ``catalogue``: columns LABELS, every source with every reference set.

        A query that a source knows nothing of (no gold answer, no reference) has no rows. Combinations label what all
        of their sources label; there the qrels' grades are divided by the highest grade of the dataset.
        """
        frames = [self._of(name, catalogue) for name in names]
        return pl.concat([pl.DataFrame(schema=LABELS), *frames])

    def _of(self, name: str, catalogue: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
        definition = catalogue[name]
        if definition["kind"] == "combination":
            frame = self._combined(definition, catalogue)
        else:
            frame = self._single(name, definition)
        return frame.select(pl.lit(name).alias("source"), *list(LABELS)[1:])

    def _single(self, name: str, definition: Mapping[str, Any]) -> pl.DataFrame:
        kind = definition["kind"]
        if kind == "qrels":
            judged = self.passages.join(self.qrels, on=PASSAGE, how="left", maintain_order="left")
            frame = self._everywhere(judged.with_columns(pl.col("label").fill_null(0).clip(lower_bound=0)))
        elif kind == "containment":
            frame = self._everywhere(self._contained())
        else:
            frame = self._made(name)
        if "threshold" in definition:
            frame = frame.with_columns(pl.col("label").ge(definition["threshold"]))
        return frame.with_columns(pl.col("label").cast(pl.Float64))

    def _made(self, name: str) -> pl.DataFrame:
        """Labels of a source with the reference sets of P: its own set of that name, or the only one that it has."""
        labels = self.made[name]
        own = labels.filter(pl.col("references").is_in(self.references))
        if own.height:
            return own
        others = labels["references"].unique(maintain_order=True).to_list()
        return self._everywhere(labels.filter(pl.col("references").eq_missing(others[0] if others else None)))

    def _contained(self) -> pl.DataFrame:
        answered = self.passages.filter(pl.col("qid").is_in(list(self.gold)))
        found = [
            max(containment(text, answer) for answer in self.gold[qid])
            for qid, text in answered.select("qid", "text").iter_rows()
        ]
        return answered.with_columns(pl.Series("label", found, dtype=pl.Float64))

    def _combined(self, definition: Mapping[str, Any], catalogue: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
        keys = ["references", *PASSAGE]
        both: pl.DataFrame | None = None
        for name in definition["sources"]:
            one = self._single(name, catalogue[name])
            if catalogue[name]["kind"] == "qrels":
                one = one.with_columns(pl.col("label") / self._highest())
            one = one.select(*keys, pl.col("label").alias(name))
            both = one if both is None else both.join(one, on=keys, maintain_order="left")
        if both is None:
            raise InputError("annotations", "a combination of nothing", "key sources")
        names = [pl.col(name) for name in definition["sources"]]
        if definition["combine"] == "product":
            return both.with_columns(pl.fold(pl.lit(1.0), lambda made, one: made * one, names).alias("label"))
        return both.with_columns(COMBINE[definition["combine"]](*names).alias("label"))

    def _highest(self) -> float:
        return max(1.0, float(self.qrels["label"].max() or 1))  # type: ignore[arg-type]

    def _everywhere(self, labels: pl.DataFrame) -> pl.DataFrame:
        """``labels`` with each of P's reference sets."""
        sets = pl.DataFrame({"references": self.references}, schema={"references": pl.String})
        return sets.join(labels.select(*PASSAGE, "label"), how="cross", maintain_order="left_right")
