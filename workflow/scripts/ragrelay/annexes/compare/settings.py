"""Declare the key of a comparison of studies."""

from typing import Annotated, Literal

from pydantic import Field

from ragrelay.base.settings import File, Settings, Unique


class CompareSettings(Settings):
    """Which finished studies `snakemake compare` sets side by side."""

    before: File = Field(
        description="Name of a study, whose results are in `results/<name>/`, or the path of their folder (with a `/`)."
    )
    after: File | Annotated[Unique[File], Field(min_length=1)] = Field(
        description="The other one, or a list of several, each of which is compared with `before`. A study may be "
        "compared with itself, e.g. two of its generators."
    )
    pairs: dict[Literal["datasets", "retrievers", "generators", "scorers"], dict[str, str]] = Field(
        {},
        description="Names that belong together though they differ, name before to name after, by section: "
        "`{retrievers: {bm25: monot5}}`; with several studies, for those with the name. Equal names belong together "
        "anyway, and so do the only generators of both.",
    )


class CompareKeys(Settings):
    """The comparison of studies."""

    compare: CompareSettings | None = None
