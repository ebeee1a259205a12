"""Declare the keys of a claims study."""

from typing import Annotated, Any

from pydantic import Field

from ragrelay.annexes.acu.source import CLAIM_KINDS
from ragrelay.base.grid import Names
from ragrelay.base.settings import PATH, Name, Nullable, Settings, Text


class AcuSettings(Settings):
    """Which claims, prompts and generators the study of context use (`snakemake acu`) crosses."""

    claims: Names = Field(description="Names from `claims`.")
    prompts: Names | dict[Name, Names] = Field(
        description="Names of templates in `config/claim_prompts/`, for all generators or by generator."
    )
    generators: Names = Field(description="Names from `generators` with `engine: vllm`.")
    entities: Text = Field(
        "auto",
        description="What finds the names in claims and evidence: a spaCy model, `capitalised` (a rule), or `auto`, "
        "the best installed spaCy model for English, else the rule.",
    )
    unreliable_sources: Nullable[Annotated[str, PATH]] = Field(
        None,
        description="File with domains of sources that count as unreliable, one a line; null for none.",
    )
    reliable_sources: Nullable[Annotated[str, PATH]] = Field(
        None,
        description="File with domains of sources that count as reliable, one a line. Fact-check articles, governments "
        "and universities always do; any other source that is in neither file has no value.",
    )
    evidence_judge: Nullable[str] = Field(
        None,
        description="Name of a generator that is asked whether each piece of evidence refers to an "
        "external source; null for a rule, a URL or a phrase such as “according to”.",
    )


class AcuKeys(Settings):
    """Claims, and the study of them."""

    claims: dict[Name, Annotated[dict[Any, Any], CLAIM_KINDS]] = Field(
        {}, description="Catalogue of claims with evidence, for the study of context use."
    )
    acu: AcuSettings | None = None
