"""Declare the key for the comparison of measures."""

from pydantic import Field

from ragrelay.base.settings import Settings


class ComparisonSettings(Settings):
    """Which measures are compared with each other."""

    declared: str | None = Field(
        None,
        description="The measure in `grid.measures` that you chose before you saw answers. Only it is then compared "
        "with each other measure, with more power; by default, all measures are compared in pairs.",
    )


class ComparisonKeys(Settings):
    """The comparison of retrieval measures."""

    compare_measures: ComparisonSettings | None = Field(
        None,
        description="Compare the measures in `grid.measures` by how closely they follow the answers; `{}` compares all "
        "in pairs.",
    )
