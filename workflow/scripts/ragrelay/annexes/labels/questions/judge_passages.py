"""Ask a judge about each passage, to compute an annotation source's labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.question import Inputs, Key, Question, QuestionJob

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.annexes.labels.rules import Labels
    from ragrelay.execution.study.study import StudyOfRules
    from ragrelay.generation.likelihoods.asker import Asker, Receipt


class JudgePassages(Question):
    """A question about each retrieved passage, for every source and judge."""

    asks, reads = "judge_passages", "label_by_judge"
    does = (
        "Ask a judge whether passages are relevant, and store the replies.",
        "Compute passage labels from a judge's probabilities for the reply words.",
    )
    key = "{dataset}/{source}/{judge}"
    ask_key = "{dataset}/{judge}"
    made: ClassVar = {
        "labels": StudyFile("{dataset}/annotations/llm/{source}/{judge}.parquet", "label_by_judge", "a judge's labels",
            "ragrelay.annexes.labels.stage_columns:JUDGED_LABELS"),
        "left_out": StudyFile("{dataset}/annotations/llm/{source}/{judge}.left_out.json", "label_by_judge",
            "number of questions whose reply words get little probability from the judge"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        return passage_jobs(study, of_rules(study).source_parts)

    def asker(self, study: "StudyOfRules", key: Key) -> str:
        return key["judge"]

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        return {"prompts": of_rules(study).single_prompts(of_rules(study).source(key["source"])["prompt"])}

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        source = of_rules(study).source_parts[key["source"]]
        return {"words": source.words(), "begins": source.begins()}

    def modules(self, study: "StudyOfRules", key: Key) -> list[str]:
        from ragrelay.annexes.labels.source import ANNOTATION_KINDS

        return [ANNOTATION_KINDS.module(of_rules(study).source(key["source"]))]

    def read_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        return {"source": of_rules(study).source_named(key["source"])}


def ask(job: QuestionJob, asker: "Asker") -> tuple[None, dict[str, object]]:
    from ragrelay.generation.likelihoods.word_questions import ask_words

    questions = passage_questions(job)
    return None, ask_words(questions, job.settings["words"], job.settings["begins"], asker)


plan = ask


def read(job: QuestionJob, receipt: "Receipt", cache_dir: str | Path) -> Mapping[str, object]:
    """Compute labels from the reply words' probabilities (columns references, qid, docno, the source's columns, mass).

    Also counts the passages for which the reply words' total probability is below one half (mass.mass_counts).
    """
    import polars as pl

    from ragrelay.annexes.labels.single_answers import PASSAGE
    from ragrelay.annexes.labels.source import ANNOTATION_KINDS
    from ragrelay.generation.likelihoods.mass import mass_counts
    from ragrelay.generation.likelihoods.word_questions import asked_shares

    shares = asked_shares(passage_questions(job), receipt, cache_dir, PASSAGE)
    judged: list[pl.Expr] = ANNOTATION_KINDS.of(job.settings["source"]).judged()  # type: ignore[attr-defined]
    labels = shares.select(pl.lit(None, pl.String).alias("references"), *PASSAGE, *judged, "mass")
    return {"labels": labels, "left_out": mass_counts(shares["mass"], receipt["words"])}


def passage_jobs(study: "StudyOfRules", sources: Mapping[str, Any]) -> list[Key]:
    """Return a job for each dataset, source and judge of that source."""
    return [
        {"dataset": dataset, "source": name, "judge": judge}
        for dataset in study.grid.datasets
        for name in sources
        for judge in of_rules(study).source_parts[name].judges(study.grid.generators)
    ]


def passage_questions(job: QuestionJob) -> "pl.DataFrame":
    """Read the passages' prompts (qid, docno, prompt_id, prompt, system) from files of single-passage prompts.

    A passage found by several retrievers has only one row. In bias checks, a passage has one row per prompt.
    """
    import polars as pl

    from ragrelay.annexes.labels.single_answers import PASSAGE

    question = ["prompt_id", "prompt", "system"]
    frames = [pl.read_parquet(path, columns=["qid", "docnos", *question], glob=False) for path in job.paths("prompts")]
    passages = pl.concat(frames).with_columns(pl.col("docnos").list.first().alias("docno"))
    return passages.unique([*PASSAGE, "prompt_id"], keep="first", maintain_order=True).select(*PASSAGE, *question)


def of_rules(study: "StudyOfRules") -> "Labels":
    from ragrelay.annexes.labels.rules import of_study as labels_of  # here, since rules import the questions

    return labels_of(study)
