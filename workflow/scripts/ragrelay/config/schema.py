"""Declare the configuration's keys, with types, bounds, defaults and descriptions.

Kinds declare the keys of catalogue entries. To add a key, add a field with a description here or in a kind. Validation,
messages, defaults, the reference in config/README.md and the JSON Schema for editors all come from that field.
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
"""The kinds of entries in each section of the catalogue."""

Definition = dict[Any, Any]


def _as_written(value: object, validate: Callable[[object], object]) -> object:
    """Validate a number without converting it, so that provenance and params keep it as the user wrote it."""
    validate(value)
    return value


Share = Annotated[float, Field(gt=0, le=1), WrapValidator(_as_written)]


class PathvarsSettings(Settings):
    """Snakemake's path variables, which move `<results>`, `<logs>` or `<benchmarks>` to other folders."""

    results: File | None = Field(None, description="Folder for the study's results, instead of `results/<study>`.")
    logs: File | None = Field(None, description="Folder for the jobs' logs, instead of `logs/<study>`.")
    benchmarks: File | None = Field(
        None,
        description="Folder for measurements of the jobs' time and memory, instead of `results/<study>/benchmarks`.",
    )


class BudgetSettings(Settings):
    """Limits on a study's cost: what the study's jobs have already used plus what `snakemake plan` estimates for the
    missing results. If a run would exceed a limit, or if there is no current plan for the configuration, the run ends
    with a one-line error before the first job.
    """

    gpu_hours: float | None = Field(
        None,
        gt=0,
        description="Maximum GPU-hours (machine-hours on a CPU). The plan estimates them from the speed of earlier "
        "jobs or from the generators' `tokens_per_second`. Endpoints use no GPU-hours.",
    )
    tokens: int | None = Field(
        None,
        ge=1,
        description="Maximum number of tokens: prompt tokens (including those served from the prefix cache) plus "
        "answer tokens.",
    )

    @model_validator(mode="before")
    @classmethod
    def _not_empty(cls, given: object) -> object:
        if given == {}:
            raise RefusedError("{}", "at least 1 entry")
        return given


class PrimarySettings(Settings):
    """The primary comparison, which you choose before you see any answer. It is tested separately, and its result comes
    first on the page.
    """

    retriever: str | None = Field(
        None,
        description="Name of the retriever to compare with `reference`. Defaults to the grid's first ranking retriever "
        "(not an oracle or a dose) other than `reference`.",
    )
    reference: str | None = Field(
        None,
        description="Name of the retriever with which `retriever` is compared. Defaults to `reference_retriever` if "
        "that is a ranking retriever, and otherwise to the grid's first ranking retriever.",
    )
    ordering: str | None = Field(
        None, description="Ordering of the passages in the prompt. Defaults to the grid's first ordering."
    )
    k: int | None = Field(None, ge=1, description="Number of passages in a context. Defaults to the grid's largest k.")
    references: str | None = Field(
        None, description="Reference set against which P is computed. Defaults to each dataset's lowest grade."
    )
    measure: str | None = Field(None, description="Retrieval measure. Defaults to the grid's first measure.")
    scorer: str | None = Field(None, description="Scorer that computes P. Defaults to the grid's first scorer.")


class AnalysisSettings(Settings):
    """Settings for the statistical analysis."""

    resamples: int = Field(
        10000,
        ge=100,
        le=1000000,
        description="Number of bootstrap resamples (for the intervals of r) and of permutations (in the paired test).",
    )
    seed: int = Field(0, ge=0, description="Seed for the bootstrap and the permutations.")
    reference_retriever: Nullable[str] = Field(
        "rel",
        description="Name of the retriever with which the † marks compare the other retrievers. With `null`, there are "
        "no † marks.",
    )
    empty_rankings: Literal["zero", "left_out"] = Field(
        "zero",
        description="What to do if a retriever finds nothing for a query. `zero` uses the zero-shot answer (P = P₀, "
        "utility 0) and sets the retrieval measures to 0; `left_out` leaves the query out of that retriever's cells. "
        "With retrievers that use judgements (`oracle`, `graded`, `position`), the query is always left out.",
    )
    equivalence_margin: float = Field(
        0.02,
        gt=0,
        description="Largest difference in mean P, in either direction, at which two retrievers count as equivalent. "
        "The default is meant for BERTScore but applies to every scorer that doesn't ask a judge.",
    )
    margins: dict[Name, Nullable[Annotated[float, Field(gt=0)]]] | None = Field(
        None,
        description="Margins that replace `equivalence_margin` for individual scorers, by scorer name. Without a "
        "margin (`null`, or a judge that isn't listed here), a scorer's only verdicts are better, worse and undecided.",
    )
    primary: PrimarySettings = Field({}, validate_default=True)


class CoreSettings(Settings):
    """A catalogue of datasets, retrievers, generators and scorers by name, and a grid that selects from it."""

    study: Name = Field(description="Name of the study. Results are written to `results/<study>/`.")
    cache_dir: File = Field(
        "cache",
        description="Folder for expensive results that studies can share: answers, scores, reference embeddings and "
        "indexes. A leading `~` stands for your home directory.",
    )
    cache_mode: Literal["read-write", "read-only"] = Field(
        "read-write",
        description="Whether the study may write to the cache. With `read-only`, cached results are used, but a job "
        "that needs anything else ends with a one-line error before it starts an engine, encodes a text or builds an "
        "index.",
    )
    stage_models: File | None = Field(
        None,
        description="Folder on a node's local storage, such as `$TMPDIR`, to which models are copied before vLLM reads "
        "them. The first job on each node copies the model, and the copy stays until the node removes it. Variables "
        "are expanded in the job. If there is no room or the variable isn't set, vLLM reads the model from the "
        "original folder.",
    )
    prune: Literal["remove"] | None = Field(
        None,
        description="With `remove`, the target `cache_prune` removes the files that it otherwise only lists. Set this "
        "key on the command line: `--config prune=remove`.",
    )
    pathvars: PathvarsSettings | None = None
    context_depth: int = Field(
        50,
        ge=1,
        description="Number of passages stored per query, whatever the grid's k. If you raise k up to this depth, "
        "only the prompts and later results are rebuilt.",
    )
    run_metadata: bool = Field(
        False,
        description="Whether run files begin with an [ir_metadata](https://www.ir-metadata.org) header: comments with "
        "the retriever's definition and the dataset. Programs that don't support comments in run files (trec_eval, "
        "ir_measures 0.4, pytrec_eval, PyTerrier) reject files with such a header.",
    )
    near_copy: Nullable[Share] = Field(
        0.5,
        description="A reference that shares at least this fraction of the shorter text's 5-grams with a passage in "
        "the context is a near copy, and counts as seen. A reference with the same docno as a passage in the context "
        "always counts as seen; with `null`, only docnos are compared. This key determines the unseen reference sets "
        "and the share of copied references.",
    )
    context_use: bool = Field(
        False,
        description="Compute each answer's log-probability with and without its context, to measure how much the "
        "answer depends on the context. This takes about one extra pass over every prompt and needs `engine: vllm`.",
    )
    questions: Unique[ClassName] | None = Field(
        None,
        description="Your own questions to a model, each as `module:Class`. The module must be installed, or be in the "
        "folder where you start Snakemake ([add a question](../docs/add-a-question.md)).",
    )
    budget: BudgetSettings | None = None
    shards: Literal["auto"] | None = Field(
        None,
        description="With `auto`, `snakemake plan` chooses the number of query shards for each dataset and "
        "generator, so that each job takes at most 70% of the profile's `runtime` (run the plan with the "
        "study's profile). The number is fixed once there are answers. Before the first plan, the "
        "datasets' `shards` apply.",
    )
    grid: GridSettings
    datasets: dict[Name, Annotated[Definition, DATASET_KINDS]] = Field(description="Catalogue of datasets.")
    retrievers: dict[Name, Annotated[Definition, RETRIEVER_KINDS]] = Field(
        description="Catalogue of retrievers: anything that produces a TREC run."
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

    Raises InputError with the dotted path of the first invalid key.
    """
    given = _with_dates_as_texts(config)
    try:
        return Configuration.model_validate(given)
    except ValidationError as error:
        raise input_error(error, given) from None


def load_schema() -> JsonSchema:
    """Return the configuration's JSON Schema, for editors and the key reference."""
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
