"""Declare a study's grid: the catalogue names and values whose combinations are its cells."""

from typing import Annotated

from pydantic import Field

from ragrelay.base.settings import Name, OneOf, Settings, Text, Unique
from ragrelay.base.vocabulary.orderings import ORDERINGS, PERMUTATIONS

Names = Annotated[Unique[Name], Field(min_length=1)]


class GridSettings(Settings):
    """The catalogue names and values whose combinations are the cells."""

    datasets: Names = Field(description="Names from `datasets`.")
    retrievers: Names = Field(description="Names from `retrievers`.")
    orderings: Unique[Annotated[str, OneOf(lambda: [*ORDERINGS, PERMUTATIONS])]] = Field(
        min_length=1,
        description="How the top k passages are laid out, first to last in the prompt. `permutations` means all k! "
        "orders, each a separate cell such as `permutation_312` (ranks in prompt order); then no k may "
        "exceed 4.",
    )
    k: Unique[Annotated[int, Field(ge=1)]] = Field(
        min_length=1,
        description="Numbers of passages in the context. Zero-shot (k = 0) is always included and never listed.",
    )
    seeds: Unique[Annotated[int, Field(ge=0, le=2**63 - 1)]] = Field(
        min_length=1, description="Sampling seeds; each generates one answer per prompt."
    )
    generators: Names = Field(description="Names from `generators`.")
    scorers: Names = Field(description="Names from `scorers`.")
    measures: Unique[Text] = Field(
        ["nDCG"],
        min_length=1,
        description="Retrieval measures in ir_measures' notation without a cutoff (each is computed at every k); "
        "figures show the first.",
    )
