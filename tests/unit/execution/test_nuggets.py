"""Lists of nuggets in the plan: requests for windows are exact, and what depends on lists to come is uncertain."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.store import SCHEMA, AnswerStore
from ragrelay.prompting.templates import Template
from ragrelay.questions.nuggets.prompts import load_nugget_template
from ragrelay.questions.nuggets.topics import read_topics
from ragrelay.questions.nuggets.writing import LIST_SEED, Limits, Lists

from tests.support.asking import work as work_of
from tests.support.sandbox import ROOT
from tests.unit.conftest import PASSAGES, QRELS, QUERIES

TEMPLATE = load_nugget_template(ROOT / "config/nugget_prompts/nuggets.yaml")
LIMITS = Limits(window=1, most=3, max_tokens=50)
PASSAGES_READ = {"depth": 2, "least_label": 2}
ANSWERS = {"q2": '["it pumps", "blood flows"]', "q10": '["on hills"]'}


def planned_job(folder: Path) -> tuple[dict[str, Path], dict[str, Any]]:
    """Files and settings of three queries with two judged passages each."""
    collection = folder / "d/collection"
    collection.mkdir(parents=True)
    queries = pl.DataFrame({"qid": list(QUERIES), "query": list(QUERIES.values())})
    queries.write_parquet(collection / "queries.parquet")
    rows = [(*judged, PASSAGES[judged[1]]) for judged in QRELS]
    table = pl.DataFrame(rows, schema=["qid", "docno", "label", "text"], orient="row")
    table.write_parquet(collection / "references.parquet")
    files = {"queries": collection / "queries.parquet", "passages": collection / "references.parquet"}
    limits = {"window": LIMITS.window, "most": LIMITS.most, "max_tokens": LIMITS.max_tokens}
    return files, {"template": asdict(TEMPLATE), "limits": limits, "passages": PASSAGES_READ, "shards": 2}


def keep(generator: dict[str, Any], cache: Path, asked: pl.DataFrame, answers: dict[str, str]) -> None:
    """Put lists into the store as an engine would have written them."""
    store = AnswerStore(cache, fingerprint(LIMITS.definitions(generator)[0]))
    blank = dict.fromkeys(SCHEMA) | {"prompt_tokens": 1, "cached_tokens": 0, "answer_tokens": 1, "dropped_passages": 0}
    store.append(
        [
            {
                **blank,
                "prompt_id": name,
                "seed": LIST_SEED,
                "answer": answers[qid],
                "finish_reason": "stop",
                "logprob": 0.0,
            }
            for qid, name in asked.select("qid", "prompt_id").iter_rows()
            if qid in answers
        ],
        {},
    )


def test_before_between_and_after_the_windows(tmp_path: Path, generator: dict[str, Any]) -> None:
    (files, settings), cache = planned_job(tmp_path), tmp_path / "cache"
    parts = [(files, settings, {"shard": str(shard)}) for shard in range(2)]

    def work() -> pl.DataFrame:
        generators = {"lm": GeneratorPlan(generator, "fp", Template(), cache, threads=1)}
        return work_of("write_nuggets", parts, generators)

    before = work()
    lists, probabilities = (before.filter(pl.col("store").str.starts_with(one)) for one in ("answers", "likelihoods"))
    assert lists["requests"].sum() == 3 * 2 and lists["certain"].sum() == 3, "three first windows are known"
    assert len(probabilities) == 3 * LIMITS.most and not probabilities["certain"].any()
    assert before.group_by("part").len().sort("part")["part"].to_list() == [0, 1]
    made = Lists(read_topics(files["queries"], files["passages"], **PASSAGES_READ), TEMPLATE, LIMITS)
    first = made.asked(0)
    lengths = dict(zip(first["prompt_id"], first["prompt"].str.len_bytes(), strict=True))
    known = lists.filter("certain")
    # One token per byte, after a BOS.
    assert known["prompt_tokens"].to_list() == [lengths[name] + 1 for name in known["prompt_id"]]

    keep(generator, cache, first, ANSWERS)
    for topic in made.topics:
        if topic.qid in ANSWERS:
            made.texts[topic.qid] = ["it pumps", "blood flows"] if topic.qid == "q2" else ["on hills"]
    second = made.asked(1)
    between = work().filter(pl.col("store").str.starts_with("answers"))
    assert (between["cached"].sum(), between["certain"].sum(), between["requests"].sum()) == (2, 2 + 2 + 1, 4)
    assert set(second.filter(pl.col("qid").is_in(list(ANSWERS)))["prompt_id"]) <= set(between["prompt_id"])

    keep(generator, cache, second, ANSWERS)
    after = work()
    of_nuggets = after.filter(pl.col("store").str.starts_with("likelihoods"), pl.col("certain"))
    # The letters v and o: a token each, asked for in one request.
    assert (len(of_nuggets), of_nuggets["requests"].sum()) == (3 * 2, 3)
