"""A question of one's own to a model is one file: rules, plan, files and reruns follow from it."""

import json
from pathlib import Path

import polars as pl

from tests.support.sandbox import Sandbox, jobs_of

QUESTIONS = "workflow/scripts/ragrelay/asking/questions"
SUFFICIENT = '''"""Whether the best passage of each query is enough to answer it: yes or no."""

from typing import ClassVar

from ragrelay.asking.question import Question
from ragrelay.vocabulary.study_file import StudyFile


class AskSufficient(Question):
    """Of the best passage of each retriever."""

    asks, reads = "ask_sufficient", "read_sufficient"
    does = ("Ask whether the best passage is enough, into the store.", "Read how probable yes is.")
    key = "{dataset}/{generator}/{retriever}"
    receipt = StudyFile("{dataset}/sufficient/{generator}/{retriever}.json", "ask_sufficient", "receipt")
    made: ClassVar = {
        "table": StudyFile("{dataset}/sufficient/{generator}/{retriever}.parquet", "read_sufficient", "p of yes"),
    }

    def jobs(self, study):
        return study.retriever_jobs(study.asked_generators())

    def asker(self, study, key):
        return key["generator"]

    def inputs(self, study, key):
        return {"queries": study.files.queries, "contexts": study.files.contexts}

    def read_inputs(self, study, key):
        return self.inputs(study, key)


def questions(job):
    import polars as pl

    from ragrelay.prompting.layout import prompt_id

    queries, contexts = (pl.read_parquet(job.path(name)) for name in ("queries", "contexts"))
    best = contexts.filter(rank=1).join(queries, on="qid")
    texts = [f"{text}\\n{query}\\nAnswer:" for query, text in best.select("query", "text").iter_rows()]
    ids = [prompt_id(text, "") for text in texts]
    return best.select("qid").with_columns(prompt_id=pl.Series(ids), prompt=pl.Series(texts), system=pl.lit(""))


def ask(job, asker):
    from ragrelay.likelihoods.word_questions import ask_words

    return None, ask_words(questions(job), ["yes", "no"], "", asker)


plan = ask


def read(job, receipt, cache_dir):
    import polars as pl

    from ragrelay.likelihoods.word_questions import asked_shares

    shares = asked_shares(questions(job), receipt, cache_dir, ["qid"])
    return {"table": shares.select("qid", sufficient=pl.col("shares").list.first())}
'''
FOLDER = "results/small/small/sufficient/demo-lm"


def test_a_question_in_one_file(finished: Sandbox, tmp_path: Path) -> None:
    """It is listed, planned, asked once, and asked again where its prompt changes; nothing else runs."""
    study = finished.copied_to(tmp_path / "study")
    path = study.folder / QUESTIONS / "ask_sufficient.py"
    path.write_text(SUFFICIENT, encoding="utf-8")
    assert "ask_sufficient (Ask whether the best passage" in study.snakemake("--list").stdout
    study.snakemake("plan")
    rows = pl.read_csv(study.results / "plan.csv").filter(job="ask_sufficient")
    assert rows["retriever"].to_list() == ["bm25", "rel", "nrel"] and rows["to_make"].sum() > 0

    targets = [f"{FOLDER}/{retriever}.parquet" for retriever in ("bm25", "rel")]
    made = study.snakemake(*targets)
    assert {rule: n for rule, n in jobs_of(made).items() if n} == {"ask_sufficient": 2, "read_sufficient": 2}
    receipts = [json.loads((study.folder / FOLDER / f"{name}.json").read_text()) for name in ("bm25", "rel")]
    planned = rows.filter(pl.col("retriever").is_in(["bm25", "rel"]))
    assert [one["asked"] for one in receipts] == planned["asked"].to_list()
    table = pl.read_parquet(study.folder / targets[0])
    assert table["sufficient"].is_between(0, 1, closed="none").all() and table["qid"].n_unique() == len(table) > 0
    assert study.planned(*targets) == {}

    path.write_text(SUFFICIENT.replace("Answer:", "Enough:").replace("p of yes", "share"), encoding="utf-8")
    assert study.planned(*targets) == {"ask_sufficient": 2, "read_sufficient": 2}
    path.write_text(SUFFICIENT.replace('pl.col("shares")', 'pl.col("shares") ').replace("list.first", "list.last"))
    assert study.planned(*targets) == {"read_sufficient": 2}, "the replies are read again, nothing is asked"
