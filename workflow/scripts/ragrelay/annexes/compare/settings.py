"""Declare the key of a comparison of two studies."""

from typing import Literal

from pydantic import Field

from ragrelay.base.settings import File, Settings


class CompareSettings(Settings):
    """Which two finished studies `snakemake compare` sets side by side."""

    before: File = Field(
        description="Name of a study, whose results are in `results/<name>/`, or the path of their folder (with a `/`)."
    )
    after: File = Field(description="The other one; a study may be compared with itself, e.g. two of its generators.")
    pairs: dict[Literal["datasets", "retrievers", "generators", "scorers"], dict[str, str]] = Field(
        {},
        description="Names that belong together though they differ, name before to name after, by section: "
        "`{retrievers: {bm25: monot5}}`. Equal names belong together anyway, and so do the only generators of both.",
    )


class CompareKeys(Settings):
    """The comparison of two studies."""

    compare: CompareSettings | None = None
