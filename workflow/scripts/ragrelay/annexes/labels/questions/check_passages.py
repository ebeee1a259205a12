"""Ask a judge again about a sample of passages, after changes to the prompts that should not affect the labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ragrelay.annexes.labels.questions.judge_passages import JudgePassages, of_rules, passage_jobs
from ragrelay.annexes.labels.questions.judge_passages import ask as ask  # the same, for changed prompts
from ragrelay.annexes.labels.questions.judge_passages import plan as plan
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.question import Inputs, Key, QuestionJob

if TYPE_CHECKING:
    from ragrelay.execution.study.study import StudyOfRules
    from ragrelay.generation.likelihoods.asker import Receipt


class CheckPassages(JudgePassages):
    """A question that checks a judge for bias: it asks about a sample of passages again, with changed prompts."""

    asks, reads = "check_passages", "score_passage_checks"
    does = (
        "Ask a judge again about a sample of passages after changes that shouldn't matter, and store the replies.",
        "Compute a judge's labels for a sample of passages before and after changes that shouldn't matter.",
    )
    follows = JudgePassages
    made: ClassVar = {
        "scores": StudyFile("{dataset}/annotations/checks/{source}/{judge}/scores.parquet", "score_passage_checks",
            "the scores from a passage judge's bias checks", "ragrelay.annexes.labels.passage_checks:SCORE_COLUMNS"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return passage_jobs(study, of_rules(study).checked_sources)

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        from ragrelay.annexes.labels import files

        return {"prompts": [files.passage_checks_prompts]}

    def read_inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        from ragrelay.annexes.labels import files

        return {"asked": files.passage_checks}


def read(job: QuestionJob, receipt: "Receipt", cache_dir: str | Path) -> Mapping[str, object]:
    import polars as pl

    from ragrelay.annexes.labels.source import ANNOTATION_KINDS
    from ragrelay.questions.judging.check_scores import score_judge_checks

    asked = pl.read_parquet(job.path("asked"), glob=False)
    score: pl.Expr = ANNOTATION_KINDS.of(job.settings["source"]).score()  # type: ignore[attr-defined]
    return {"scores": score_judge_checks(asked, receipt, score, cache_dir)}
