"""Lists of nuggets by vLLM: of their form, window by window, resumed to the same; those that were cut, once again."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.likelihoods import asker
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.questions.nuggets.job import Stores, importance_asked, importance_tokens
from ragrelay.questions.nuggets.prompts import load_nugget_template
from ragrelay.questions.nuggets.writing import LONGEST_TEXT, Limits, Lists, Topic, Written, form, read_list
from ragrelay.scoring.nugget_lists import SCHEMA

from tests.support.sandbox import ROOT
from tests.support.scripts import named, run_script
from tests.unit.conftest import PASSAGES, QUERIES

pytestmark = pytest.mark.engine

TEMPLATE = load_nugget_template(ROOT / "config/nugget_prompts/nuggets.yaml")
TOPICS = [
    Topic("q2", QUERIES["q2"], list(PASSAGES.items())[:4]),
    Topic("q10", QUERIES["q10"], list(PASSAGES.items())[2:4]),
    Topic("q1", QUERIES["q1"], []),
]
LIMITS = Limits(window=2, most=3, max_tokens=40)


@pytest.fixture
def demo(generator: dict[str, Any]) -> dict[str, Any]:
    return {**generator, "model": str(ROOT / "resources/demo/model"), "max_model_len": 1024}


@pytest.fixture
def one_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """All jobs of a test ask one engine, which the first of them starts."""
    real, started = asker.one_engine, list[Any]()

    def one_engine(*given: Any) -> Any:
        started.append(real(*given))
        return started[0]

    monkeypatch.setattr(asker, "one_engine", one_engine)


class Rules:
    """The scripts of write_nuggets, for two shards, and of view_nuggets, with a cache of their own."""

    def __init__(self, folder: Path, definition: Mapping[str, Any]) -> None:
        self.folder = folder
        folder.mkdir()
        pl.DataFrame({"qid": list(QUERIES), "query": list(QUERIES.values())}).write_parquet(folder / "queries.parquet")
        rows = [(t.qid, docno, 2, text) for t in TOPICS for docno, text in t.passages] + [("q1", "d6", 1, "numbers")]
        table = pl.DataFrame(rows, schema=["qid", "docno", "label", "text"], orient="row")
        table.write_parquet(folder / "passages.parquet")
        asked = {"generator": definition, "fingerprint": likelihood_fingerprint(definition)}
        settings = {
            "passages": {"depth": 4, "least_label": 2},
            "limits": {"window": LIMITS.window, "most": LIMITS.most, "max_tokens": LIMITS.max_tokens},
            "template": vars(TEMPLATE),
            "shards": 2,
            **asked,
        }
        self.settings, self.cache = settings, str(folder / "cache")
        names = {"question": "write_nuggets", "asks": "write_nuggets", "texts": "of texts"}
        self.params = SimpleNamespace(cache_dir=self.cache, **names, **asked)

    def part(self, **shard: str) -> dict[str, Any]:
        """A part of the question; without a shard, the table."""
        files = {"queries": [0], "passages": [0]}
        return {"files": files, "settings": self.settings, "wildcards": {"dataset": "small", **shard}}

    def run(self, script: str, parts: list[dict[str, Any]], receipts: list[Path], **made: str) -> None:
        files = {name: str(self.folder / f"{name}.parquet") for name in ("queries", "passages")}
        given = named(**files, receipt=list(map(str, receipts)))
        output = named(**{name: str(self.folder / file) for name, file in made.items()})
        params, log = SimpleNamespace(**vars(self.params), parts=parts), [str(self.folder / "log")]
        run_script(script, input=given, output=output, params=params, wildcards=named(), log=log, threads=1)

    def write(self, shard: int) -> Any:
        """Write the lists of a shard; return the receipt of its only part."""
        self.run("questions/ask_question.py", [self.part(shard=str(shard))], [], receipt=f"shard{shard}.json")
        return json.loads((self.folder / f"shard{shard}.json").read_text())["parts"][0]

    def view(self) -> tuple[pl.DataFrame, dict[str, int]]:
        parts = [self.part(shard="0"), self.part(shard="1"), self.part()]
        receipts = sorted(self.folder.glob("shard*.json"))
        self.run("questions/read_replies.py", parts, receipts, nuggets="nuggets.parquet", left_out="left_out.json")
        counts = json.loads((self.folder / "left_out.json").read_text())
        return pl.read_parquet(self.folder / "nuggets.parquet"), {one["what"]: one["count"] for one in counts}


@pytest.mark.usefixtures("one_start")
def test_a_generator_writes_lists_and_resumes(
    demo: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = Rules(tmp_path / "undisturbed", demo)
    receipts = [rules.write(shard) for shard in (0, 1)]
    table, left_out = rules.view()
    assert table.schema == pl.Schema({**SCHEMA, "mass": pl.Float64}) and table["mass"].is_between(0, 1).all()
    assert set(table["qid"]) == {"q2", "q10"}
    assert table.group_by("qid").len()["len"].max() <= LIMITS.most
    assert table["text"].str.len_chars().is_between(1, LONGEST_TEXT).all()
    assert table["vital_probability"].is_between(0, 1, closed="none").all()
    assert (table["vital"] == (table["vital_probability"] > 0.5)).all()

    counts = {name: sum(receipt["counts"][name] for receipt in receipts) for name in receipts[0]["counts"]}
    assert (counts["lists"], counts["windows"]) == (2, 2 + 1)
    answers = pl.read_parquet(rules.folder / "cache/answers/*/part-*.parquet")
    made = sum(receipt["made"] for receipt in receipts)
    assert len(answers) == made == counts["windows"] + counts["again"]
    whole = answers.filter(pl.col("finish_reason") != "length")["answer"]
    assert all(re.fullmatch(form(3), answer) and json.loads(answer) for answer in whole)
    cut = answers.filter(pl.col("finish_reason") == "length")
    assert counts["again"] == len(cut.filter(answer_tokens=40)) > 0
    assert counts["cut"] == len(cut.filter(answer_tokens=80)), "what is cut twice is not written a third time"
    assert left_out["queries without nuggets (no score)"] == 1
    assert left_out["lists of nuggets cut again (whole texts kept)"] == counts["cut"]
    assert rules.write(0)["made"] == 0 and rules.view()[0].equals(table)

    real = Lists.take

    def killed(self: Lists, qid: str, found: Written) -> None:
        real(self, qid, found)
        raise KeyboardInterrupt

    other = Rules(tmp_path / "killed", demo)
    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(Lists, "take", killed)
        other.write(0)
    resumed = [other.write(shard) for shard in (0, 1)]
    assert resumed[0]["cached"] > 0 and sum(one["cached"] + one["made"] for one in resumed) == made
    assert other.view()[0].equals(table)


def test_the_list_so_far_is_in_the_next_prompt() -> None:
    topics = [Topic("q2", QUERIES["q2"], list(PASSAGES.items())), TOPICS[1]]
    lists = Lists(topics, TEMPLATE, LIMITS)
    asked: list[pl.DataFrame] = []

    def ask(prompts: pl.DataFrame) -> dict[str, Written]:
        asked.append(prompts)
        cut = len(asked) == 2
        answer = '["pumps blood", "the heart", "Pumps  blood"]' if not cut else '["water", "a we'
        return {name: Written(answer, 1 + cut, cut) for name in prompts["prompt_id"]}

    lists.write(ask)
    assert [one["qid"].to_list() for one in asked] == [["q2", "q10"], ["q2"], ["q2"]]
    assert [one["docnos"].to_list()[0] for one in asked] == [["d1", "d2"], ["d3", "d4"], ["d5", "d6"]]
    assert "List so far: []\n" in asked[0]["prompt"][0]
    assert 'List so far: ["pumps blood", "the heart"]\n' in asked[1]["prompt"][0]
    assert 'List so far: ["water", "pumps blood", "the heart"]\n' in asked[2]["prompt"][0], "of a cut list and before"
    assert lists.counts == {"lists": 2, "windows": 4, "again": 1, "cut": 1, "repeated": 3}


def test_lists_as_they_are_read() -> None:
    assert read_list('["a fact", " another  one "]') == (["a fact", "another one"], 0)
    assert read_list('["a fact", "A Fact", " "]') == (["a fact"], 2)
    assert read_list('["a fact", "cut he', ["before", "a fact"]) == (["a fact", "before"], 0)
    assert read_list('["cu', []) == ([], 0)
    pattern = re.compile(form(2))
    assert pattern.fullmatch('["é", "b c"]') and not pattern.fullmatch('["a", "b", "c"]')
    for wrong in ("[]", '[""]', r'["a\n"]', '["a\n"]', r'["\ud83d"]', '["' + "a" * (LONGEST_TEXT + 1) + '"]'):
        assert not pattern.fullmatch(wrong)


def test_probabilities_are_asked_for_each_nugget(demo: dict[str, Any]) -> None:
    lists = Lists(TOPICS[:1], TEMPLATE, LIMITS)
    lists.texts["q2"] = ["the heart pumps", "blood flows"]
    words = importance_tokens(demo)
    asked = importance_asked(lists, TEMPLATE, words)
    assert asked["nugget"].unique().to_list() == [1, 2] and set(asked["word"]) == {"vital", "okay"}
    assert len(asked) == 2 * sum(map(len, words.values()))


def test_stored_answers_of_others_are_found_as_before(demo: dict[str, Any]) -> None:
    first, again = LIMITS.definitions(demo)
    assert len({fingerprint(one) for one in (demo, first, again)}) == 3
    assert fingerprint({**demo, "structured": "a"}) != fingerprint({**demo, "structured": "b"})
    assert again["max_tokens"] == 2 * first["max_tokens"]


def test_a_prompt_beyond_the_window_is_refused(demo: dict[str, Any], tmp_path: Path) -> None:
    stores = Stores(LIMITS.definitions({**demo, "max_model_len": 64}), tmp_path, lambda *_: pytest.fail("started"))
    with pytest.raises(InputError, match=r"at most 0 \(window 64"):
        Lists(TOPICS, TEMPLATE, LIMITS).write(stores.ask)
