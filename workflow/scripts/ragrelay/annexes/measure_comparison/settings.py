"""Declare the config key for comparing measures."""

from pydantic import Field

from ragrelay.base.settings import Settings


class ComparisonSettings(Settings):
    """Which measures are compared: every pair, or one measure, chosen in advance, with each of the others."""

    declared: str | None = Field(
        None,
        description="Measure in `grid.measures` that you chose before you saw answers. If you set this key, only the "
        "chosen measure is compared with each of the others, which gives more power; by default, every pair of "
        "measures is compared.",
    )


class ComparisonKeys(Settings):
    """The config key for comparing retrieval measures."""

    compare_measures: ComparisonSettings | None = Field(
        None,
        description="Compare the measures in `grid.measures` by how closely they track answer quality; `{}` compares "
        "every pair of measures.",
    )
