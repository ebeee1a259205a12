"""Declare the configuration keys for predictors."""

from typing import Annotated

from pydantic import Field

from ragrelay.base.settings import DATASET_PATH, Nullable, Settings, Unique


class PredictionSettings(Settings):
    """Settings for the predictors of `snakemake predict` ([predict.md](../docs/predict.md))."""

    score_depth: int = Field(
        100,
        ge=2,
        description="Number of top results whose scores are used by NQC, SMV, RSD and the largest standard deviation.",
    )
    wig_depth: int = Field(5, ge=1, description="Number of top results whose scores are used by WIG.")
    score_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Minimum score of the results used by `sigma_share`, as a share of the first result's score.",
    )
    feedback_depth: int = Field(
        50,
        ge=2,
        description="Number of passages from which the word models for Clarity and UEF are built; at most "
        "`context_depth`.",
    )
    vector_depth: int = Field(
        50,
        ge=2,
        description="Number of top results whose dense vectors are used by A-Ratio, A-Pair-Ratio and "
        "`dense_perturbation`.",
    )
    context_perplexity: bool = Field(
        False,
        description="Whether to have the generator score each context's likelihood given the query (needs "
        "`engine: vllm`). This takes about one pass over each passage and each complete context.",
    )
    reranker: Nullable[str] = Field(
        None,
        description="Name of a retriever of kind `rerank` whose model scores every passage in the contexts; used for "
        "`reranker_mean` and `reranker_max`.",
    )
    cross_encoder: Nullable[str] = Field(
        None,
        description="Name of a retriever of kind `rerank` whose model is a cross-encoder trained to predict retrieval "
        "quality from a query and its first passage; used for `bert_qpp`.",
    )
    judge: Nullable[str] = Field(
        None,
        description="Name of an annotation source in the grid that asks a generator (kind `llm` or `graded_llm`); used "
        "for `qpp_genre`.",
    )
    agreement_scorers: Unique[str] = Field(
        [],
        description="Names of scorers in the grid that compare the answers to a prompt with each other; used for "
        "`agreement_<scorer>`.",
    )
    passage_quality: Nullable[Annotated[str, DATASET_PATH]] = Field(
        None,
        description="Parquet file with columns `docno` and `quality` (such as QualT5's scores), used for "
        "`passage_quality_mean` and related predictors. `{dataset}` stands for the dataset's name.",
    )
    same_meaning: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Minimum word F1 at which two answers count as having the same meaning; used for "
        "`semantic_entropy`.",
    )


class PredictionKeys(Settings):
    """The keys for predictors."""

    prediction: PredictionSettings = Field({}, validate_default=True)
