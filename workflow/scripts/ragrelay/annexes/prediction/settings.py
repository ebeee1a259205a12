"""Declare the keys for predictors."""

from typing import Annotated

from pydantic import Field

from ragrelay.base.settings import DATASET_PATH, Nullable, Settings, Unique


class PredictionSettings(Settings):
    """Settings for the predictors of `snakemake predict` (docs/predict.md)."""

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
        description="Minimum score, as a share of the first result's, of the results that `sigma_share` uses.",
    )
    feedback_depth: int = Field(
        50,
        ge=2,
        description="Number of passages from which Clarity and UEF build their word model; at most `context_depth`.",
    )
    vector_depth: int = Field(
        50,
        ge=2,
        description="Number of top results whose dense vectors A-Ratio, A-Pair-Ratio and perturbed queries use.",
    )
    context_perplexity: bool = Field(
        False,
        description="Compute each context's likelihood after the query with the answering generator (`engine: "
        "vllm`). This takes about one pass over each passage and each complete context.",
    )
    reranker: Nullable[str] = Field(
        None,
        description="Name of a retriever of kind `rerank` whose model scores every passage in the contexts, for "
        "`reranker_mean` and `reranker_max`.",
    )
    cross_encoder: Nullable[str] = Field(
        None,
        description="Name of a retriever of kind `rerank` for `bert_qpp`, whose model is a cross-encoder trained to "
        "predict a query's retrieval quality from its first passage.",
    )
    judge: Nullable[str] = Field(
        None,
        description="Name of an annotation source in the grid that asks a generator (`llm`, `graded_llm`), for "
        "`qpp_genre`.",
    )
    agreement_scorers: Unique[str] = Field(
        [],
        description="Scorers from the grid that compare a prompt's answers with each other, for `agreement_<scorer>`.",
    )
    passage_quality: Nullable[Annotated[str, DATASET_PATH]] = Field(
        None,
        description="Parquet file with columns docno and quality (such as QualT5's scores), for "
        "`passage_quality_mean` and others. `{dataset}` stands for the dataset's name.",
    )
    same_meaning: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Word F1 at or above which two answers count as having the same meaning, for `semantic_entropy`.",
    )


class PredictionKeys(Settings):
    """The keys for predictors."""

    prediction: PredictionSettings = Field({}, validate_default=True)
