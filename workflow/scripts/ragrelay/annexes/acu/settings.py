"""Declare the keys of a claims study."""

from typing import Annotated, Any

from pydantic import Field

from ragrelay.annexes.acu.source import CLAIM_KINDS
from ragrelay.base.grid import Names
from ragrelay.base.settings import PATH, Name, Nullable, Settings, Text


class AcuSettings(Settings):
    """The claims, prompts and generators in the study of context use (`snakemake acu`)."""

    claims: Names = Field(description="Names from `claims`.")
    prompts: Names | dict[Name, Names] = Field(
        description="Names of templates in `config/claim_prompts/`, for all generators or by generator."
    )
    generators: Names = Field(description="Names from `generators` with `engine: vllm`.")
    entities: Text = Field(
        "auto",
        description="How to find names in claims and evidence: a spaCy model, `capitalised` (a rule), or `auto`, "
        "which uses the best installed English spaCy model, or the rule if there is none.",
    )
    unreliable_sources: Nullable[Annotated[str, PATH]] = Field(
        None,
        description="File of unreliable sources' domains, one per line; null for none.",
    )
    reliable_sources: Nullable[Annotated[str, PATH]] = Field(
        None,
        description="File of reliable sources' domains, one per line. Fact-check articles, governments and "
        "universities always count as reliable; for sources in neither file, reliability is unknown.",
    )
    evidence_judge: Nullable[str] = Field(
        None,
        description="Generator that judges whether each piece of evidence refers to an external source; null uses "
        "a rule instead (a URL, or a phrase such as “according to”).",
    )


class AcuKeys(Settings):
    """Claims, and the study of context use."""

    claims: dict[Name, Annotated[dict[Any, Any], CLAIM_KINDS]] = Field(
        {}, description="Catalogue of claims with evidence, for the study of context use."
    )
    acu: AcuSettings | None = None
