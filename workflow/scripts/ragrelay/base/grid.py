"""Declare a study's grid: the catalogue names and values whose combinations form its cells."""

from typing import Annotated

from pydantic import Field

from ragrelay.base.settings import Name, OneOf, Settings, Text, Unique
from ragrelay.base.vocabulary.orderings import ORDERINGS, PERMUTATIONS

Names = Annotated[Unique[Name], Field(min_length=1)]


class GridSettings(Settings):
    """The catalogue names and values whose combinations form the study's cells."""

    datasets: Names = Field(description="Names from `datasets`.")
    retrievers: Names = Field(description="Names from `retrievers`.")
    orderings: Unique[Annotated[str, OneOf(lambda: [*ORDERINGS, PERMUTATIONS])]] = Field(
        min_length=1,
        description="How the top k passages are laid out in the prompt, from first to last. `permutations` means "
        "all k! orders, each a separate cell such as `permutation_312` (ranks in prompt order); it requires k to be "
        "at most 4.",
    )
    k: Unique[Annotated[int, Field(ge=1)]] = Field(
        min_length=1,
        description="Numbers of passages in the context. Don't list k = 0: zero-shot answers are always included.",
    )
    seeds: Unique[Annotated[int, Field(ge=0, le=2**63 - 1)]] = Field(
        min_length=1, description="Sampling seeds. Each prompt gets one answer per seed."
    )
    generators: Names = Field(description="Names from `generators`.")
    scorers: Names = Field(description="Names from `scorers`.")
    measures: Unique[Text] = Field(
        ["nDCG"],
        min_length=1,
        description="Retrieval measures in ir_measures' notation, without a cutoff, because each is computed at "
        "every k. Figures show the first measure.",
    )
