"""Compute the log-probabilities of complete contexts and of single passages, given the query."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.bases import AboutRetrievers
from ragrelay.questions.question import Key, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.execution.study.study import StudyOfRules
    from ragrelay.generation.likelihoods.asker import Asker, Receipt


class ScoreContexts(AboutRetrievers):
    """A question about the likelihood of a retriever's contexts given the query, asked without a chat template."""

    asks, reads = "score_contexts", "compute_context_likelihoods"
    does = (
        "Have a generator score the contexts, and store the log-probabilities.",
        "Compute the contexts' log-probabilities, which some predictors use.",
    )
    asked = StudyFile("{dataset}/predictions/contexts/{generator}/{retriever}.asked.parquet",
        "compute_context_likelihoods",
        "the requested log-probabilities of contexts, with their keys in the cache",
        "ragrelay.annexes.prediction.stage_columns:CONTEXT_REQUESTS")  # fmt: skip
    made: ClassVar = {
        "table": StudyFile("{dataset}/predictions/contexts/{generator}/{retriever}.parquet",
            "compute_context_likelihoods", "log-probability of each context given the query",
            "ragrelay.annexes.prediction.context_perplexity.requests:COLUMNS"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return super().jobs(study) if study.config["prediction"]["context_perplexity"] else []

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        return {"ks": sorted(study.grid.k)}


def ask(job: QuestionJob, asker: "Asker") -> "tuple[pl.DataFrame, dict[str, Any]]":
    import polars as pl

    from ragrelay.annexes.prediction.context_perplexity.requests import PLACE, context_requests
    from ragrelay.generation.likelihoods.store import KEY

    queries, contexts = (pl.read_parquet(job.path(name)) for name in ("queries", "contexts"))
    asked = context_requests(queries, contexts, job.settings["ks"], asker.generator)
    return asked.select(*PLACE, *KEY), asker.likelihoods(asked, chat=False)


plan = ask


def read(job: QuestionJob, receipt: "Receipt", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.annexes.prediction.context_perplexity.requests import SCHEMA
    from ragrelay.generation.likelihoods.store import KEY, LikelihoodStore

    rows = pl.read_parquet(job.path("asked"))
    held = LikelihoodStore(cache_dir, receipt["fingerprint"]).look_up(rows.select(KEY).unique())
    scored = rows.join(held, on=KEY, how="left", maintain_order="left")
    return {"table": scored.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())}
