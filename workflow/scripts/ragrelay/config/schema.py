"""Declare the configuration's keys: types, bounds, defaults, descriptions. Kinds declare those of the catalogue.

Add a key here, as a field with a description, or as a field of a kind. Validation, messages, defaults, the reference in
config/README.md and the JSON Schema for editors all come from it.
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, WrapValidator, model_validator

from ragrelay.annexes.acu.source import CLAIM_KINDS
from ragrelay.annexes.labels.source import ANNOTATION_KINDS
from ragrelay.base.grid import GridSettings, Names
from ragrelay.base.kinds import Kinds
from ragrelay.base.settings import (
    DATASET_PATH,
    PATH,
    ClassName,
    File,
    JsonSchema,
    Name,
    Nullable,
    RefusedError,
    Settings,
    Text,
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
    "annotations": ANNOTATION_KINDS,
    "claims": CLAIM_KINDS,
}
"""Kinds by the section of the catalogue that has their entries."""

Definition = dict[Any, Any]


def _as_written(value: Any, validate: Callable[[Any], Any]) -> Any:
    """Validate a number, but leave 1 as 1, so that provenance and params have it as the user wrote it."""
    validate(value)
    return value


Share = Annotated[float, Field(gt=0, le=1), WrapValidator(_as_written)]


class PathvarsSettings(Settings):
    """Snakemake's path variables, to move `<results>`, `<logs>` or `<benchmarks>` elsewhere."""

    results: File | None = Field(None, description="Folder of the study's results, instead of `results/<study>`.")
    logs: File | None = Field(None, description="Folder of the jobs' logs, instead of `logs/<study>`.")
    benchmarks: File | None = Field(
        None, description="Folder of the jobs' measured times, instead of `results/<study>/benchmarks`."
    )


class BudgetSettings(Settings):
    """Limits of a study, for what its jobs have used and what `snakemake plan` says is still missing. A run that would
    exceed one, or that has no plan of the present configuration, ends with one line before its first job."""

    gpu_hours: float | None = Field(
        None,
        gt=0,
        description="GPU-hours (of the whole machine on CPU), by the speed of earlier jobs or the generators' "
        "`tokens_per_second`; an endpoint takes none.",
    )
    tokens: int | None = Field(
        None,
        ge=1,
        description="Tokens of prompts, those that the prefix cache serves among them, and of answers.",
    )

    @model_validator(mode="before")
    @classmethod
    def _not_empty(cls, given: Any) -> Any:
        if given == {}:
            raise RefusedError("{}", "at least 1 entry")
        return given


class AgreementSettings(Settings):
    """How far annotation sources are trusted, compared with people's labels."""

    people: Name | None = Field(
        None,
        description="The source of `grid.annotations`, of kind `qrels` or `file`, whose labels are people's; the first "
        "of kind `qrels` where absent.",
    )
    random_sample: bool = Field(
        False,
        description="States that the queries with people's labels are a random sample of all queries, as "
        "prediction-powered intervals need; without it there are none. Queries chosen by what retrievers or judges "
        "made of them are no random sample.",
    )
    least_kappa: float = Field(
        0.4,
        ge=0,
        le=1,
        description="Cohen's κ of relevant or not, below which the page warns of results that rest on a source's "
        "labels.",
    )


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
        description="Name of a generator with `engine: vllm` that is asked whether each piece of evidence refers to an "
        "external source; null for a rule, a URL or a phrase such as “according to”.",
    )


class PredictionSettings(Settings):
    """How the predictors of `snakemake predict` are set (docs/predict.md)."""

    score_depth: int = Field(
        100, ge=2, description="Results whose scores count for NQC, SMV, RSD and the largest standard deviation."
    )
    wig_depth: int = Field(5, ge=1, description="Results whose scores count for WIG.")
    score_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Results with at least this share of the first one's score count for `sigma_share`.",
    )
    feedback_depth: int = Field(
        50, ge=2, description="Passages that Clarity and UEF learn words from, up to `context_depth`."
    )
    vector_depth: int = Field(
        50, ge=2, description="Results whose dense vectors count for A-Ratio, A-Pair-Ratio and perturbed queries."
    )
    context_perplexity: bool = Field(
        False,
        description="Score every context after the query, by the generator that answers, with `engine: vllm`: about "
        "one pass over each passage and over each whole context.",
    )
    reranker: Nullable[str] = Field(
        None,
        description="Name of a retriever of kind `rerank`, whose model scores every passage of the contexts for "
        "`reranker_mean` and `reranker_max`.",
    )
    cross_encoder: Nullable[str] = Field(
        None,
        description="The same for `bert_qpp`: a cross-encoder that was trained to predict how well a query does from "
        "its first passage.",
    )
    judge: Nullable[str] = Field(
        None,
        description="Name of one of the grid's annotation sources that ask a generator (`llm`, `graded_llm`), for "
        "`qpp_genre`.",
    )
    agreement_scorers: Unique[str] = Field(
        [],
        description="Those of the grid's scorers that compare the answers to one prompt with each other, for "
        "`agreement_<scorer>`.",
    )
    passage_quality: Nullable[Annotated[str, DATASET_PATH]] = Field(
        None,
        description="Parquet file with columns docno and quality, `{dataset}` for the dataset's name, for "
        "`passage_quality_mean` and others: QualT5's scores, or those of any model.",
    )
    same_meaning: float = Field(
        0.5,
        gt=0,
        le=1,
        description="F1 of words from which two answers count as one meaning for `semantic_entropy`.",
    )


class PrimarySettings(Settings):
    """The one comparison that is chosen before any answer is seen: it is tested alone, and the page opens with it."""

    retriever: str | None = Field(
        None,
        description="By default the first of the grid's retrievers that rank (no oracles, no doses), the reference "
        "aside.",
    )
    reference: str | None = Field(
        None,
        description="The retriever that it is compared with; by default the reference retriever where it ranks, else "
        "the first that does.",
    )
    ordering: str | None = Field(None, description="By default the grid's first.")
    k: int | None = Field(None, ge=1, description="By default the grid's largest.")
    references: str | None = Field(None, description="By default the lowest grade of each dataset.")
    measure: str | None = Field(None, description="By default the grid's first.")
    scorer: str | None = Field(None, description="By default the grid's first.")


class AnalysisSettings(Settings):
    """How the statistics are made."""

    resamples: int = Field(
        10000,
        ge=100,
        le=1000000,
        description="Bootstrap resamples for intervals of r and permutations of the paired test.",
    )
    seed: int = Field(0, ge=0, description="Seed of the bootstrap and the permutations.")
    reference_retriever: Nullable[str] = Field(
        "rel", description="The retriever that the mark † compares with; null for none."
    )
    empty_rankings: Literal["zero", "left_out"] = Field(
        "zero",
        description="A query for which a retriever finds nothing: `zero` takes the answer without context for its own "
        "(P_k = P_0, utility 0) and 0 for its retrieval measures; `left_out` leaves the query out of that retriever's "
        "cells. Judged retrievers (oracle, graded, position) always leave it out.",
    )
    equivalence_margin: float = Field(
        0.02,
        gt=0,
        description="How far a retriever's mean P may lie from the reference retriever's, up or down, to be called "
        "equivalent to it.",
    )
    primary: PrimarySettings = Field({}, validate_default=True)


class CompareSettings(Settings):
    """Which two finished studies `snakemake compare` sets side by side."""

    before: File = Field(
        description="Name of a study, whose results are in `results/<name>/`, or the path of their folder (with a `/`)."
    )
    after: File = Field(description="The other one; a study may be compared with itself, e.g. two of its generators.")
    pairs: dict[Literal["datasets", "retrievers", "generators", "scorers"], dict[str, str]] = Field(
        {},
        description="Names that belong together though they differ, name before to name after, by section: "
        "`{retrievers: {bm25: monot5}}`. Equal names belong together anyway, and so do the only generators of both.",
    )


class PublishedSettings(Settings):
    """CSV files of published tables, with which `snakemake reproduce` compares the study's."""

    utility: File | None = Field(
        None,
        description="Mean utility per cell: columns dataset, retriever, ordering, k, references, mean_utility, maybe "
        "differs_from_rel (†), differs_from_reversed (‡, at the ascending row) and mean_p0.",
    )
    labels: File | None = Field(
        None,
        description="Correlation of annotation sources' labels with P: columns retriever, dataset, annotation, "
        "measure, coefficient (tau or rho), value.",
    )
    label_cost: File | None = Field(
        None, description="Cost of labels by the generator: columns dataset, end_to_end_seconds, erag_seconds."
    )
    claims: File | None = Field(None, description="Mean ACU: columns model, dataset, mean_acu.")
    names: dict[
        Literal["datasets", "retrievers", "references", "annotations", "generators", "claims"], dict[str, Name]
    ] = Field(
        {},
        description="What the tables' names are here, by section of the configuration, where they differ: "
        "`{retrievers: {rel: ideal}}`.",
    )


class Configuration(Settings):
    """A catalogue of datasets, retrievers, generators and scorers by name, and a grid that selects from it."""

    study: Name = Field(description="Name of the study; its results go under `results/<study>/`.")
    cache_dir: File = Field(
        "cache",
        description="Folder of what is costly and shared between studies (answers, scores, reference embeddings, "
        "indexes); `~` at the start is the home directory.",
    )
    cache_mode: Literal["read-write", "read-only"] = Field(
        "read-write",
        description="`read-only` for a shared cache that this study must not write to: what is cached serves, and a "
        "job that would have to make more ends with one line before it starts an engine, encodes a text or builds an "
        "index.",
    )
    stage_models: File | None = Field(
        None,
        description="Folder of a node's own storage, such as `$TMPDIR`, to which the first job of a node copies its "
        "model; vLLM then reads the copy. Variables are those of the job. Where there is no room, or no such variable, "
        "the model is read where it is. The copies stay until the node removes them.",
    )
    prune: Literal["remove"] | None = Field(
        None,
        description="`remove`, given as `--config prune=remove`: the target `cache_prune` removes what it otherwise "
        "lists.",
    )
    preview: Literal["score"] | None = Field(
        None,
        description="`score`, given as `--config preview=score`: the target `preview` also loads the models of "
        "scorers, where it runs, for the answers that are not scored yet.",
    )
    pathvars: PathvarsSettings | None = None
    context_depth: int = Field(
        50,
        ge=1,
        description="Passages kept per query as context candidates, independent of the grid's k, so that a larger k "
        "rebuilds nothing before the prompts.",
    )
    run_metadata: bool = Field(
        False,
        description="Whether run files begin with a header of [ir_metadata](https://www.ir-metadata.org): the "
        "retriever's definition and dataset, as comments. Readers that know no comments (trec_eval, ir_measures 0.4, "
        "pytrec_eval, PyTerrier) refuse such a file.",
    )
    near_copy: Nullable[Share] = Field(
        0.5,
        description="Share of 5-grams (of whichever text has fewer) from which a reference counts as seen in a passage "
        "of the context, in addition to the reference of the same docno; `null` goes by docno alone. It decides the "
        "unseen reference sets and the share of copied references.",
    )
    context_use: bool = Field(
        False,
        description="Score every answer with its context and without it, which shows how much it depends on the "
        "context: about one more pass over every prompt, with `engine: vllm`.",
    )
    questions: Unique[ClassName] | None = Field(
        None,
        description="Questions of your own to a model, each a class as `module:Class` in the folder in which Snakemake "
        "is started, or in an installed module ([add a question](../docs/add-a-question.md)).",
    )
    budget: BudgetSettings | None = None
    shards: Literal["auto"] | None = Field(
        None,
        description="`auto`: `snakemake plan` with the profile of a run finds the number of query shards of each "
        "dataset and generator, so that a job ends within .7 of the profile's `runtime`. It stays once there are "
        "answers. Before the first plan, the datasets' `shards` count.",
    )
    grid: GridSettings
    datasets: dict[Name, Annotated[Definition, DATASET_KINDS]] = Field(description="Catalogue of datasets.")
    retrievers: dict[Name, Annotated[Definition, RETRIEVER_KINDS]] = Field(
        description="Catalogue of retrievers; anything that yields a TREC run."
    )
    generators: dict[Name, Annotated[Definition, GENERATOR_KINDS]] = Field(
        description="Catalogue of generators; an LLM with its decoding parameters and its prompt template."
    )
    scorers: dict[Name, Annotated[Definition, SCORER_KINDS]] = Field(
        description="Catalogue of scorers; measures of answer quality against references."
    )
    annotations: dict[Name, Annotated[Definition, ANNOTATION_KINDS]] = Field(
        {},
        description="Catalogue of annotation sources; whatever gives a passage a label of relevance to a query.",
    )
    annotation_depth: int = Field(
        10,
        ge=2,
        description="Passages of each ranking that get labels; each of them is given to the generator alone.",
    )
    agreement: AgreementSettings = Field({}, validate_default=True)
    claims: dict[Name, Annotated[Definition, CLAIM_KINDS]] = Field(
        {}, description="Catalogue of claims with evidence, for the study of context use."
    )
    acu: AcuSettings | None = None
    prediction: PredictionSettings = Field({}, validate_default=True)
    analysis: AnalysisSettings = Field({}, validate_default=True)
    compare: CompareSettings | None = None
    published: PublishedSettings | None = None


def validated(config: Mapping[str, Any]) -> Configuration:
    """Return ``config`` with defaults filled in. Its ``mapping()`` is a deep copy with sorted keys.

    Raises InputError for the first invalid key, named by its dotted path.
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


def _with_dates_as_texts(value: Any) -> Any:
    """Return ``value`` with dates as texts, since YAML reads 2026-01-31 without quotation marks as a date."""
    if isinstance(value, Mapping):
        return {key: _with_dates_as_texts(sub) for key, sub in value.items()}
    if isinstance(value, list):
        return [_with_dates_as_texts(sub) for sub in value]
    return value.isoformat() if isinstance(value, datetime.date) else value
