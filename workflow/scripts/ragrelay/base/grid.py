"""Declare a study's grid: the catalogue names and values whose combinations form the study's cells."""

from typing import Annotated

from pydantic import Field

from ragrelay.base.settings import Name, OneOf, Settings, Text, Unique
from ragrelay.base.vocabulary.orderings import ORDERINGS, PERMUTATIONS

Names = Annotated[Unique[Name], Field(min_length=1)]


class GridSettings(Settings):
    """The datasets, retrievers, generators and other values whose combinations form the study's cells."""

    datasets: Names = Field(description="Names of datasets in the catalogue `datasets`.")
    retrievers: Names = Field(description="Names of retrievers in the catalogue `retrievers`.")
    orderings: Unique[Annotated[str, OneOf(lambda: [*ORDERINGS, PERMUTATIONS])]] = Field(
        min_length=1,
        description="Orders of the top k passages in the prompt, from first to last. `permutations` stands for all k! "
        "orders, each in a separate cell such as `permutation_312` (ranks in prompt order); k must then be at most 4.",
    )
    k: Unique[Annotated[int, Field(ge=1)]] = Field(
        min_length=1,
        description="Numbers of passages in a context. Leave out 0, because zero-shot answers are always included.",
    )
    seeds: Unique[Annotated[int, Field(ge=0, le=2**63 - 1)]] = Field(
        min_length=1, description="Sampling seeds. Each prompt gets one answer per seed."
    )
    generators: Names = Field(description="Names of generators in the catalogue `generators`.")
    scorers: Names = Field(description="Names of scorers in the catalogue `scorers`.")
    measures: Unique[Text] = Field(
        ["nDCG"],
        min_length=1,
        description="Retrieval measures in ir_measures' notation. Leave out cutoffs, because each measure is computed "
        "at every k. Figures show the first measure.",
    )
