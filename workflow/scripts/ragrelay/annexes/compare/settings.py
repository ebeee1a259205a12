"""Declare the config keys for comparing studies."""

from typing import Annotated, Literal

from pydantic import Field

from ragrelay.base.settings import File, Settings, Unique


class CompareSettings(Settings):
    """The finished studies that `snakemake compare` compares."""

    before: File = Field(
        description="The baseline study: a name, if the results are in `results/<name>/`, or the path of a folder "
        "(with a `/`)."
    )
    after: File | Annotated[Unique[File], Field(min_length=1)] = Field(
        description="The other study, or a list of studies; each is compared with `before`. You can compare a "
        "study with itself, e.g. two of its generators."
    )
    pairs: dict[Literal["datasets", "retrievers", "generators", "scorers"], dict[str, str]] = Field(
        {},
        description="Names in `before` to compare with different names in `after`, by section: `{retrievers: {bm25: "
        "monot5}}`. If `after` lists several studies, a pair applies to the studies that contain the pair's second "
        "name. Entries with the same name are always compared, and so are the generators if each study has only one.",
    )


class CompareKeys(Settings):
    """The config key for the studies to compare."""

    compare: CompareSettings | None = None
