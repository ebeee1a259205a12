"""Annotation sources that a user writes: a function of a query and a passage."""

import polars as pl
from pydantic import Field

from ragrelay.annotations.source import ContinuousSource, Given
from ragrelay.errors import InputError
from ragrelay.own_functions import PairFunction
from ragrelay.settings import Function


class Python(ContinuousSource, PairFunction):
    """A function of yours that labels a passage."""

    results = "labels"
    function: Function = Field(
        description="`module:function`, in a file in the working folder or an installed module. Called with a "
        "query and a passage, two texts, and the `options`; returns a number from 0 to 1."
    )

    def labels(self, given: Given) -> pl.DataFrame:
        """Label all passages. Raises InputError for a wrong number of labels, or a label not in 0 to 1."""
        place = f"annotation source {self.function}"
        queries = [given.queries[qid] for qid in given.passages["qid"]]
        labels = self.called(place, queries, given.passages["text"].to_list())
        for label in labels:
            if not isinstance(label, int | float) or not 0 <= label <= 1:
                raise InputError(place, f"{label!r} returned", "a number from 0 to 1")
        return given.everywhere(given.passages.with_columns(pl.Series("label", labels, dtype=pl.Float64, strict=False)))
