"""Have a generator write nugget lists, window by window, and rate each nugget's importance."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.question import Inputs, Key, Question, QuestionJob

if TYPE_CHECKING:
    from ragrelay.questions.nuggets.prompts import NuggetTemplate
    from ragrelay.questions.nuggets.topics import Topic
    from ragrelay.questions.nuggets.writing import Limits
    from ragrelay.questions.question import StudyOfRules


class WriteNuggets(Question):
    """A request for nugget lists, with one part per shard; a single job reads the lists of all shards."""

    asks, reads = "write_nuggets", "view_nuggets"
    does = ("Have a generator write nugget lists, and store them.", "Write the nugget lists from the store to a file.")
    key, read_key = "{dataset}/{scorer}/shard{shard}", "{dataset}/{scorer}"
    ask_key = "{dataset}/{writer}/shard{shard}"
    made: ClassVar = {
        "nuggets": StudyFile("{dataset}/nuggets/{scorer}/nuggets.parquet", "view_nuggets, read_nuggets",
            "the nugget lists that a scorer uses", "ragrelay.scoring.nugget_lists:COLUMNS"),
        "left_out": StudyFile("{dataset}/nuggets/{scorer}/left_out.json", "view_nuggets, read_nuggets",
            "counts of queries without nuggets, of truncated lists, of a file's lists for unknown queries, and of "
            "nuggets for which the writer gives the words vital and okay little probability"),
    }  # fmt: skip

    def jobs(self, study: "StudyOfRules") -> list[Key]:
        shards = study.generation.shards
        return [{**key, "shard": str(n)} for key in self.read_jobs(study) for n in shards(key["dataset"])]

    def read_jobs(self, study: "StudyOfRules") -> list[Key]:
        written = [name for name, kind in study.scoring.nuggets.items() if kind.written_by]
        return [{"dataset": dataset, "scorer": scorer} for dataset in study.grid.datasets for scorer in written]

    def asker(self, study: "StudyOfRules", key: Key) -> str:
        name: str = study.scoring.nuggets[key["scorer"]].written_by  # type: ignore[assignment]
        return name

    def inputs(self, study: "StudyOfRules", key: Key) -> Inputs:
        files = study.files
        retriever = study.scoring.nuggets[key["scorer"]].retriever
        passages = files.contexts.at(retriever=retriever) if retriever else files.references
        return {"queries": files.queries, "passages": passages}

    def settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        from ragrelay.questions.nuggets.prompts import load_nugget_template

        kind = study.scoring.nuggets[key["scorer"]]
        return {
            "passages": kind.passages_read(),
            "limits": kind.limits(),
            "template": vars(load_nugget_template(study.template_path(kind.list_prompt, "nugget_prompts"))),
            "shards": len(study.generation.shards(key["dataset"])),
        }

    def read_settings(self, study: "StudyOfRules", key: Key) -> dict[str, object]:
        writer = self.asker(study, key)
        by = {"generator": study.generation.of_jobs(writer), "fingerprint": study.generation.likelihoods(writer)}
        return {**self.settings(study, key), **by}


def ask(job: QuestionJob, asker: Any) -> tuple[None, dict[str, Any]]:
    from ragrelay.questions.nuggets.job import write_nuggets

    return None, write_nuggets(_topics(job), *_form(job), asker)


def plan(job: QuestionJob, asker: Any) -> None:
    """Count the requests. The count is exact if the lists for earlier windows are stored and no list is truncated."""
    from ragrelay.questions.nuggets.planned import plan_lists

    plan_lists(_topics(job), *_form(job), asker)


def read(job: QuestionJob, receipt: object, cache_dir: str | Path) -> Mapping[str, object]:
    from ragrelay.generation.likelihoods.mass import mass_counts
    from ragrelay.questions.nuggets.job import view_nuggets
    from ragrelay.scoring.nugget_lists import IMPORTANCE, left_out

    topics, settings = _topics(job), job.settings
    nuggets, counts = view_nuggets(topics, *_form(job), settings["generator"], settings["fingerprint"], cache_dir)
    of_lists = left_out(nuggets, [topic.qid for topic in topics], written=counts)
    return {"nuggets": nuggets, "left_out": [*of_lists, *mass_counts(nuggets["mass"], list(IMPORTANCE))]}


def _topics(job: QuestionJob) -> "list[Topic]":
    """Read the queries in the job's shard (all queries if there are no shards) with their passages."""
    from ragrelay.questions.nuggets.topics import read_topics

    part = {"shard": int(job.wildcards["shard"]), "shards": job.settings["shards"]} if "shard" in job.wildcards else {}
    return read_topics(job.path("queries"), job.path("passages"), **job.settings["passages"], **part)


def _form(job: QuestionJob) -> "tuple[NuggetTemplate, Limits]":
    """Return the template and the lists' limits."""
    from ragrelay.questions.nuggets.prompts import NuggetTemplate
    from ragrelay.questions.nuggets.writing import Limits

    return NuggetTemplate(**job.settings["template"]), Limits(**job.settings["limits"])
