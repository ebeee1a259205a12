"""Collect the labels of (query, passage) pairs by all annotation sources of a study in one table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from ragrelay.annotations.source import SOURCE_KINDS, SourceData
from ragrelay.vocabulary.columns import DOCNO, QID, REFERENCES, real, schema_of, text

LABEL_COLUMNS = {
    "source": text("annotation source"),
    "references": REFERENCES,
    "qid": QID,
    "docno": DOCNO,
    "label": real("the source's label of the passage"),
}
LABELS = schema_of(LABEL_COLUMNS)


class Sources:
    """The sources of a dataset x generator x scorer: ``catalogue`` by name, ``made``: the tables of their jobs by name.

    ``data``: what all sources have, without ``made`` and ``scaled``.
    """

    def __init__(
        self, data: SourceData, catalogue: Mapping[str, Mapping[str, Any]], made: Mapping[str, pl.DataFrame]
    ) -> None:
        self.data, self.catalogue, self.made = data, catalogue, made

    def labels(self, names: Sequence[str]) -> pl.DataFrame:
        """Labels by the sources ``names``: columns LABELS, every source with every reference set.

        A query that a source knows nothing of (no gold answer, no reference) has no rows. Combinations label what all
        of their sources label; there the qrels' grades are divided by the highest grade of the dataset.
        """
        frames = [self._of(name).select(pl.lit(name).alias("source"), *list(LABELS)[1:]) for name in names]
        return pl.concat([pl.DataFrame(schema=LABELS), *frames])

    def gains(self, name: str) -> pl.DataFrame | None:
        """The gains that nDCG uses for the source ``name``: qid, docno, gain. None: it uses the labels."""
        return SOURCE_KINDS.of(self.catalogue[name]).gains(self._data_of(name))

    def _of(self, name: str) -> pl.DataFrame:
        definition = self.catalogue[name]
        frame = SOURCE_KINDS.of(definition).labels(self._data_of(name))
        if "threshold" in definition:
            frame = frame.with_columns(pl.col("label").ge(definition["threshold"]))
        return frame.with_columns(pl.col("label").cast(pl.Float64))

    def _data_of(self, name: str) -> SourceData:
        return replace(self.data, made=self.made.get(name), scaled=self._scaled)

    def _scaled(self, name: str) -> pl.DataFrame:
        kind = SOURCE_KINDS.of(self.catalogue[name])
        return self._of(name).with_columns(pl.col("label") / kind.highest(self._data_of(name)))
