"""Declare the configuration's keys: types, bounds, defaults, descriptions. Kinds declare the keys of catalogue entries.

To add a key, add a field with a description here or in a kind. Validation, messages, defaults, the reference in
config/README.md and the JSON Schema for editors all come from that field.
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, WrapValidator, model_validator

from ragrelay.base.annex import annexes
from ragrelay.base.grid import GridSettings
from ragrelay.base.kinds import Kinds
from ragrelay.base.settings import (
    ClassName,
    File,
    JsonSchema,
    Name,
    Nullable,
    RefusedError,
    Settings,
    Unique,
)
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.config.messages import input_error
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.scoring.scorer import SCORER_KINDS

KINDS: dict[str, Kinds[Any]] = {
    "datasets": DATASET_KINDS,
    "retrievers": RETRIEVER_KINDS,
    "generators": GENERATOR_KINDS,
    "scorers": SCORER_KINDS,
    **{section: kinds for annex in annexes() for section, kinds in annex.kinds.items()},
}
"""The kinds for each section of the catalogue."""

Definition = dict[Any, Any]


def _as_written(value: object, validate: Callable[[object], object]) -> object:
    """Validate a number without converting it, so that provenance and params keep it as the user wrote it."""
    validate(value)
    return value


Share = Annotated[float, Field(gt=0, le=1), WrapValidator(_as_written)]


class PathvarsSettings(Settings):
    """Snakemake's path variables, to move `<results>`, `<logs>` or `<benchmarks>` elsewhere."""

    results: File | None = Field(None, description="Folder for the study's results, instead of `results/<study>`.")
    logs: File | None = Field(None, description="Folder for the jobs' logs, instead of `logs/<study>`.")
    benchmarks: File | None = Field(
        None, description="Folder for the jobs' measured times, instead of `results/<study>/benchmarks`."
    )


class BudgetSettings(Settings):
    """A study's limits. Each limit covers what the study's jobs have already used plus what `snakemake plan` estimates
    for the missing results. A run that would exceed a limit, or whose configuration has no current plan, ends with a
    one-line error before its first job.
    """

    gpu_hours: float | None = Field(
        None,
        gt=0,
        description="GPU-hours (machine-hours on CPU), estimated from the speed of earlier jobs or from the "
        "generators' `tokens_per_second`. Endpoints use none.",
    )
    tokens: int | None = Field(
        None,
        ge=1,
        description="Prompt tokens (including those served from the prefix cache) plus answer tokens.",
    )

    @model_validator(mode="before")
    @classmethod
    def _not_empty(cls, given: object) -> object:
        if given == {}:
            raise RefusedError("{}", "at least 1 entry")
        return given


class PrimarySettings(Settings):
    """The comparison that you choose before you see any answer. It is tested on its own, and the page opens with it."""

    retriever: str | None = Field(
        None,
        description="By default the grid's first ranking retriever (not an oracle or a dose) other than the reference.",
    )
    reference: str | None = Field(
        None,
        description="The retriever to compare it with. By default this is the reference retriever if that one "
        "ranks, otherwise the grid's first ranking retriever.",
    )
    ordering: str | None = Field(None, description="By default the grid's first ordering.")
    k: int | None = Field(None, ge=1, description="By default the grid's largest k.")
    references: str | None = Field(None, description="By default each dataset's lowest grade.")
    measure: str | None = Field(None, description="By default the grid's first measure.")
    scorer: str | None = Field(None, description="By default the grid's first scorer.")


class AnalysisSettings(Settings):
    """How the statistics are computed."""

    resamples: int = Field(
        10000,
        ge=100,
        le=1000000,
        description="Number of bootstrap resamples for r's intervals and of permutations for the paired test.",
    )
    seed: int = Field(0, ge=0, description="Seed for the bootstrap and the permutations.")
    reference_retriever: Nullable[str] = Field(
        "rel",
        description="The retriever that the † marks compare the others with. With `null`, there are no such marks.",
    )
    empty_rankings: Literal["zero", "left_out"] = Field(
        "zero",
        description="What happens if a retriever finds nothing for a query. `zero` uses the zero-shot answer (P_k = "
        "P_0, utility 0) and sets the retrieval measures to 0; `left_out` leaves the query out of that retriever's "
        "cells. Judged retrievers (oracle, graded, position) always leave it out.",
    )
    equivalence_margin: float = Field(
        0.02,
        gt=0,
        description="Largest difference in mean P, in either direction, at which a retriever counts as equivalent "
        "to the reference retriever. The default is meant for BERTScore but applies to every scorer that doesn't "
        "ask a judge.",
    )
    margins: dict[Name, Nullable[Annotated[float, Field(gt=0)]]] | None = Field(
        None,
        description="Margins for individual scorers, by name, which replace `equivalence_margin`. Without a margin "
        "(`null`, or a judge that isn't listed here), verdicts are only better, worse or undecided.",
    )
    primary: PrimarySettings = Field({}, validate_default=True)


class CoreSettings(Settings):
    """A catalogue of datasets, retrievers, generators and scorers by name, and a grid that selects from it."""

    study: Name = Field(description="Name of the study; its results go to `results/<study>/`.")
    cache_dir: File = Field(
        "cache",
        description="Folder for expensive results that studies share (answers, scores, reference embeddings, "
        "indexes). A leading `~` stands for your home directory.",
    )
    cache_mode: Literal["read-write", "read-only"] = Field(
        "read-write",
        description="Set `read-only` for a shared cache that this study must not write to. Cached results are used; "
        "a job that needs anything else ends with a one-line error before it starts an engine, encodes a text or "
        "builds an index.",
    )
    stage_models: File | None = Field(
        None,
        description="Folder on a node's local storage, such as `$TMPDIR`, to which models are copied before vLLM "
        "reads them. The first job on each node makes the copy. Variables are expanded in the job. If there is no "
        "room or the variable isn't set, vLLM reads the model from its original folder. Copies stay until the node "
        "removes them.",
    )
    prune: Literal["remove"] | None = Field(
        None,
        description="With `--config prune=remove`, the target `cache_prune` removes what it otherwise only lists.",
    )
    pathvars: PathvarsSettings | None = None
    context_depth: int = Field(
        50,
        ge=1,
        description="Number of passages stored per query, independent of the grid's k. Raising k up to this depth "
        "rebuilds only the prompts and what follows.",
    )
    run_metadata: bool = Field(
        False,
        description="Whether run files begin with an [ir_metadata](https://www.ir-metadata.org) header, which gives "
        "the retriever's definition and dataset as comments. Readers that don't support comments (trec_eval, "
        "ir_measures 0.4, pytrec_eval, PyTerrier) reject such a file.",
    )
    near_copy: Nullable[Share] = Field(
        0.5,
        description="A reference counts as a near copy of a passage in the context, and therefore as seen, if the "
        "two have at least this share of the shorter text's 5-grams in common. A reference with the docno of a "
        "passage in the context is always seen; with `null`, only the docno counts. This determines the unseen "
        "reference sets and the share of copied references.",
    )
    context_use: bool = Field(
        False,
        description="Compute every answer's log-probability with and without its context, which shows how much the "
        "answer depends on the context. This takes about one extra pass over every prompt and needs `engine: vllm`.",
    )
    questions: Unique[ClassName] | None = Field(
        None,
        description="Your own questions to a model, each given as `module:Class`. The module is in the folder where "
        "you start Snakemake or is installed ([add a question](../docs/add-a-question.md)).",
    )
    budget: BudgetSettings | None = None
    shards: Literal["auto"] | None = Field(
        None,
        description="With `auto`, `snakemake plan` (run with the same profile as the study) chooses the number of "
        "query shards for each dataset and generator so that a job takes at most 70% of the profile's `runtime`. "
        "The number is fixed once there are answers. Before the first plan, the datasets' `shards` apply.",
    )
    grid: GridSettings
    datasets: dict[Name, Annotated[Definition, DATASET_KINDS]] = Field(description="Catalogue of datasets.")
    retrievers: dict[Name, Annotated[Definition, RETRIEVER_KINDS]] = Field(
        description="Catalogue of retrievers: anything that yields a TREC run."
    )
    generators: dict[Name, Annotated[Definition, GENERATOR_KINDS]] = Field(
        description="Catalogue of generators: LLMs with their decoding parameters and prompt templates."
    )
    scorers: dict[Name, Annotated[Definition, SCORER_KINDS]] = Field(
        description="Catalogue of scorers: measures of answer quality against references."
    )
    analysis: AnalysisSettings = Field({}, validate_default=True)


class Grid(*(a.grid_keys for a in reversed(annexes()) if a.grid_keys), GridSettings):  # type: ignore[misc]
    __doc__ = GridSettings.__doc__


class Configuration(*(a.keys for a in reversed(annexes()) if a.keys), CoreSettings):  # type: ignore[misc]
    __doc__ = CoreSettings.__doc__
    grid: Grid


def validated(config: Mapping[str, object]) -> Configuration:
    """Validate ``config`` and fill in defaults. The result's ``mapping()`` is a deep copy with sorted keys.

    Raises InputError for the first invalid key, with its dotted path.
    """
    given = _with_dates_as_texts(config)
    try:
        return Configuration.model_validate(given)
    except ValidationError as error:
        raise input_error(error, given) from None


def load_schema() -> JsonSchema:
    """Return the configuration's JSON Schema, for editors and for the reference."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ragrelay configuration",
        "description": Configuration.description(),
        "type": "object",
        "additionalProperties": False,
        "required": Configuration.required(),
        "properties": Configuration.properties(),
    }


def _with_dates_as_texts(value: object) -> object:
    """Return ``value`` with dates as strings, because YAML reads an unquoted 2026-01-31 as a date."""
    if isinstance(value, Mapping):
        return {key: _with_dates_as_texts(sub) for key, sub in value.items()}
    if isinstance(value, list):
        return [_with_dates_as_texts(sub) for sub in value]
    return value.isoformat() if isinstance(value, datetime.date) else value
