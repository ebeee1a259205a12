"""Ask a model whether a piece of evidence refers to an external source (Hagström et al., ACL 2025)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.question import Inputs, Key, Question, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.execution.study.study import StudyOfRules
    from ragrelay.generation.likelihoods.asker import Asker, Receipt


class JudgeEvidence(Question):
    """A question that asks the configured judge about each distinct piece of evidence in a set of claims."""

    folder = "acu/"
    asks, reads = "judge_evidence", "read_evidence_judgements"
    does = (
        "Ask a judge whether each piece of evidence refers to an external source, and store the replies.",
        "Write, for each piece of evidence, the judge's probability that it refers to an external source.",
    )
    key = "{claims}"
    made: ClassVar = {
        "judged": StudyFile("acu/{claims}/judged_evidence.parquet", "read_evidence_judgements",
            "whether the evidence refers to an external source, according to a model",
            "ragrelay.annexes.acu.judged_evidence:COLUMNS"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        acu = study.config.get("acu") or {}
        return [{"claims": name} for name in acu["claims"]] if acu.get("evidence_judge") else []

    def asker(self, study: "StudyOfRules", key: Key) -> str:
        judge: str = study.config["acu"]["evidence_judge"]
        return judge

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        from ragrelay.annexes.acu import files

        return {"claims": files.claims}


def ask(job: QuestionJob, asker: "Asker") -> tuple[None, dict[str, object]]:
    from ragrelay.annexes.acu.judged_evidence import WORDS
    from ragrelay.generation.likelihoods.word_questions import ask_words

    return None, ask_words(_asked(job).unique("prompt_id", maintain_order=True), list(WORDS), "", asker)


plan = ask


def read(job: QuestionJob, receipt: "Receipt", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.generation.likelihoods.mass import mass_counts
    from ragrelay.generation.likelihoods.word_questions import asked_shares

    shares = asked_shares(_asked(job), receipt, cache_dir, ["id"])
    mass_counts(shares["mass"], receipt["words"])  # logs the warning
    return {"judged": shares.select("id", pl.col("shares").list.first().alias("p_refers"), "mass")}


def _asked(job: QuestionJob) -> "pl.DataFrame":
    import polars as pl

    from ragrelay.annexes.acu.judged_evidence import evidence_questions

    return evidence_questions(pl.read_parquet(job.path("claims")))
