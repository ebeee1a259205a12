"""Label passages with a user-supplied function of the query and the passage."""

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.source import ContinuousSource, SourceData
from ragrelay.base.errors import InputError
from ragrelay.base.settings import Function
from ragrelay.base.user_functions import PairFunction


class Python(ContinuousSource, PairFunction):
    """Labels passages with your own function."""

    results = "labels"
    function: Function = Field(
        description="The function, as `module:function`, from a file in the working folder or from an installed "
        "module. The function gets a query's text, a passage's text and the `options`; it returns a number from 0 to 1."
    )

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label all passages. Raises InputError for a wrong number of labels, or a label outside the range 0 to 1."""
        place = f"annotation source {self.function}"
        queries = [data.queries[qid] for qid in data.passages["qid"]]
        labels = self.called(place, queries, data.passages["text"].to_list())
        for label in labels:
            if not isinstance(label, int | float) or not 0 <= label <= 1:
                raise InputError(place, f"the return value {label!r}", "a number from 0 to 1")
        return data.everywhere(data.passages.with_columns(pl.Series("label", labels, dtype=pl.Float64, strict=False)))
