"""Compute likelihoods of the label words, with and without evidence in the prompt, and of the evidence itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.question import Inputs, Key, Question, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.annexes.acu.rules import Claims
    from ragrelay.execution.study.study import StudyOfRules
    from ragrelay.generation.likelihoods.asker import Asker, Receipt


class ScoreClaims(Question):
    """A question about each claim in a set, asked with each template."""

    folder = "acu/"
    asks, reads = "score_claims", "compute_acu"
    does = (
        "Have a generator score each claim's label words with and without evidence, and store the log-probabilities.",
        "Compute ACU for each pair of a claim and its evidence.",
    )
    key, ask_key = "{claims}/{generator}/{template}", "{claims}/{generator}"
    asked = StudyFile("acu/{claims}/scored/{generator}/{template}.asked.parquet", "compute_acu",
        "the requested log-probabilities, with the keys under which they are cached",
        "ragrelay.annexes.acu.stage_columns:CLAIM_REQUESTS")  # fmt: skip
    made: ClassVar = {
        "pairs": StudyFile("acu/{claims}/pairs/{generator}/{template}.parquet", "compute_acu", "each pair's ACU",
            "ragrelay.annexes.acu.pairs:COLUMNS"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return of_rules(study).units

    def asker(self, study: "StudyOfRules", key: Key) -> str:
        return key["generator"]

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        from ragrelay.annexes.acu import files

        return {"claims": files.claims, "prompts": [files.claim_prompts]}

    def patterns(self, study: "StudyOfRules", key: Key) -> dict[str, str]:
        from ragrelay.annexes.acu import files

        return {"prompts": files.claim_prompts}

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        own_words = of_rules(study).words(key["template"])
        return {"own_words": {key["template"]: own_words}} if own_words else {}


def ask(job: QuestionJob, asker: "Asker") -> "tuple[pl.DataFrame, dict[str, Any]]":
    """Request the likelihoods of the label words and of the evidence. The receipt lists both kinds of request."""
    import polars as pl

    from ragrelay.annexes.acu.requests import Asked

    prompts = {name: pl.read_parquet(path) for name, path in job.keyed("prompts").by("template").items()}
    own_words = job.settings.get("own_words", {})
    asked = Asked(pl.read_parquet(job.path("claims")), prompts, asker.generator, own_words)
    return asked.keys(), {
        "generator": asker.generator["model"],
        "words": asked.spelled(),
        "prompts": asker.likelihoods(asked.of_words),
        "evidence": asker.likelihoods(asked.of_evidence, chat=False),
    }


plan = ask


def read(job: QuestionJob, receipt: "Mapping[str, Receipt]", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.annexes.acu.pairs import compute_acu
    from ragrelay.generation.likelihoods.store import LikelihoodStore

    stores = [LikelihoodStore(cache_dir, receipt[part]["fingerprint"]) for part in ("prompts", "evidence")]
    claims, asked = (pl.read_parquet(job.path(name)) for name in ("claims", "asked"))
    return {"pairs": compute_acu(claims, asked, job.wildcards["template"], *stores)}


def of_rules(study: "StudyOfRules") -> "Claims":
    from ragrelay.annexes.acu.rules import of_study as claims_of  # here, since rules import the questions

    return claims_of(study)
