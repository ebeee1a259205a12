"""Annotation sources that a user writes: a function of a query and a passage."""

from typing import Any

import polars as pl
from pydantic import Field

from ragrelay.annotations.source import ContinuousSource, Given
from ragrelay.errors import InputError
from ragrelay.kinds import Function
from ragrelay.own_code import function_named


class Python(ContinuousSource):
    """A function of yours that labels a passage."""

    function: Function = Field(
        description="`module:function`, in a file in the working folder or an installed module. Called with a "
        "query and a passage, two texts, and the `options`; returns a number from 0 to 1."
    )
    batch: bool = Field(
        False,
        description="Call the function once, with lists: queries, and as many passages. It returns one label per pair, "
        "in order.",
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments of the function.")

    def labels(self, given: Given) -> pl.DataFrame:
        """Of all passages. Raises InputError for another number of labels than of passages, or one not in 0 to 1."""
        function, place = function_named(self.function), f"annotation source {self.function}"
        queries = [given.queries[qid] for qid in given.passages["qid"]]
        texts = given.passages["text"].to_list()
        if self.batch:
            found = list(function(queries, texts, **self.options))
        else:
            found = [function(*pair, **self.options) for pair in zip(queries, texts, strict=True)]
        if len(found) != len(texts):
            raise InputError(place, f"{len(found)} labels for {len(texts)} passages", "one for each, in order")
        for label in found:
            if not isinstance(label, int | float) or not 0 <= label <= 1:
                raise InputError(place, f"{label!r} returned", "a number from 0 to 1")
        return given.everywhere(given.passages.with_columns(pl.Series("label", found, dtype=pl.Float64, strict=False)))
