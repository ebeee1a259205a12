"""Combine several sources' labels."""

from collections.abc import Mapping
from typing import Literal

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.source import ANNOTATION_KINDS, AnnotationSource, SourceData
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name, Unique

COMBINE = {"mean": pl.mean_horizontal, "min": pl.min_horizontal, "max": pl.max_horizontal}


class Combination(AnnotationSource):
    """Combines labels from other sources, after scaling graded labels (qrels, file, graded_llm) to the range 0 to 1."""

    single = False

    sources: Unique[Name] = Field(
        min_length=2,
        description="Names of annotation sources that are not combinations.",
    )
    combine: Literal["mean", "product", "min", "max"] = Field(
        description="How to combine a passage's labels: as their mean, product, minimum or maximum."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the sources exist and aren't combinations."""
        super().check(place, study)
        catalogue = study.config["annotations"]
        singles = [name for name, definition in catalogue.items() if ANNOTATION_KINDS[definition["kind"]].single]
        for name in self.sources:
            if name not in singles:
                raise InputError(f"{place}.sources'", repr(name), one_of(singles, name))

    def parts(self, name: str) -> list[str]:
        """Return the names of the sources that this combination uses."""
        return list(self.sources)

    def whole(self, catalogue: Mapping[str, Mapping[str, object]]) -> bool:
        """Return whether all combined labels are certain to be 0 or 1, which is never the case for a mean."""
        kinds = [ANNOTATION_KINDS.of(catalogue[name]) for name in self.sources]
        return self.combine != "mean" and all(kind.whole(catalogue) and not kind.graded for kind in kinds)

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label the passages that have a label from every source of the combination."""
        if data.scaled is None:
            raise ValueError("a combination without its sources' labels")
        keys = ["references", "qid", "docno"]
        first, *others = [data.scaled(name).select(*keys, pl.col("label").alias(name)) for name in self.sources]
        joined = first
        for other in others:
            joined = joined.join(other, on=keys, maintain_order="left")
        columns = [pl.col(name) for name in self.sources]
        if self.combine == "product":
            return joined.with_columns(label=pl.fold(pl.lit(1.0), lambda product, column: product * column, columns))
        return joined.with_columns(COMBINE[self.combine](*columns).alias("label"))
