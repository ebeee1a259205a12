"""Declare the config keys for a claims study."""

from typing import Annotated, Any

from pydantic import Field

from ragrelay.annexes.acu.source import CLAIM_KINDS
from ragrelay.base.grid import Names
from ragrelay.base.settings import PATH, Name, Nullable, Settings, Text


class AcuSettings(Settings):
    """The claims, prompts and generators of the claims study (`snakemake acu`)."""

    claims: Names = Field(description="Names of sets of claims in `claims`.")
    prompts: Names | dict[Name, Names] = Field(
        description="Names of templates in `config/claim_prompts/`: one list for all generators, or a list for each "
        "generator."
    )
    generators: Names = Field(description="Names of generators in `generators` that have `engine: vllm`.")
    entities: Text = Field(
        "auto",
        description="How to find names in claims and evidence: a spaCy model, `capitalised` (a rule), or `auto`, "
        "which uses the best installed English spaCy model, or the rule if there is none.",
    )
    unreliable_sources: Nullable[Annotated[str, PATH]] = Field(
        None,
        description="File with the domains of unreliable sources, one per line; null if there is none.",
    )
    reliable_sources: Nullable[Annotated[str, PATH]] = Field(
        None,
        description="File with the domains of reliable sources, one per line; null if there is none. Fact-check "
        "articles, governments and universities always count as reliable. The reliability of sources in neither file "
        "is unknown.",
    )
    evidence_judge: Nullable[str] = Field(
        None,
        description="Name of the generator that judges whether a piece of evidence refers to an external source. "
        "With null, evidence counts as referring to an external source if it contains a URL or a phrase "
        "such as “according to”.",
    )


class AcuKeys(Settings):
    """The catalogue of claims, and the claims study that measures how far evidence shifts a model's verdicts."""

    claims: dict[Name, Annotated[dict[Any, Any], CLAIM_KINDS]] = Field(
        {}, description="Catalogue of claims with evidence, for the study of context use."
    )
    acu: AcuSettings | None = None
