"""Lists of nuggets by vLLM: of their form, window by window, resumed to the same; those that were cut, once again."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.errors import InputError
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.likelihoods.store import likelihood_fingerprint
from ragrelay.nuggets.job import importance_asked, importance_tokens, view_nuggets, write_nuggets
from ragrelay.nuggets.lists import SCHEMA, left_out
from ragrelay.nuggets.prompts import load_nugget_template
from ragrelay.nuggets.structure import LONGEST_TEXT, form, read_list
from ragrelay.nuggets.writing import Limits, Lists, Topic, Written

from tests.support.sandbox import ROOT
from tests.unit.conftest import PASSAGES, QUERIES

TEMPLATE = load_nugget_template(ROOT / "config/nugget_prompts/nuggets.yaml")
TOPICS = [
    Topic("q2", QUERIES["q2"], list(PASSAGES.items())),
    Topic("q10", QUERIES["q10"], list(PASSAGES.items())[2:4]),
    Topic("q1", QUERIES["q1"], []),
]
LIMITS = Limits(window=2, most=3, max_tokens=40)


@pytest.fixture
def demo(generator: dict[str, Any]) -> dict[str, Any]:
    return {**generator, "model": str(ROOT / "resources/demo/model"), "max_model_len": 1024}


def write(definition: Mapping[str, Any], cache: Path, limits: Limits = LIMITS, topics: list[Topic] = TOPICS) -> Any:
    return write_nuggets(topics, TEMPLATE, limits, definition, likelihood_fingerprint(definition), cache, 1)


def view(definition: Mapping[str, Any], cache: Path, limits: Limits = LIMITS) -> Any:
    return view_nuggets(TOPICS, TEMPLATE, limits, definition, likelihood_fingerprint(definition), cache)


def test_a_generator_writes_lists_and_resumes(
    demo: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = write(demo, tmp_path)
    table, counts = view(demo, tmp_path)
    assert table.schema == pl.Schema(SCHEMA) and set(table["qid"]) == {"q2", "q10"}
    assert receipt["counts"] == counts and counts["windows"] == 3 + 1 and counts["lists"] == 2
    assert table.group_by("qid").len()["len"].max() <= LIMITS.most
    assert table["text"].str.len_chars().is_between(1, LONGEST_TEXT).all()
    assert table["vital_probability"].is_between(0, 1, closed="none").all()
    assert (table["vital"] == (table["vital_probability"] > 0.5)).all()
    answers = pl.read_parquet(tmp_path / "answers/*/part-*.parquet")
    assert len(answers) == receipt["made"] == counts["windows"] + counts["again"]
    whole = answers.filter(pl.col("finish_reason") != "length")["answer"]
    assert len(whole) and all(re.fullmatch(form(3), answer) and json.loads(answer) for answer in whole)
    again = write(demo, tmp_path)
    assert (again["made"], again["likelihoods"]["made"]) == (0, 0) and view(demo, tmp_path)[0].equals(table)
    told = {one["what"]: one["count"] for one in left_out(table, list(QUERIES), counts)}
    assert told["queries without nuggets (no score)"] == 1

    real = Lists.take

    def killed(self: Lists, qid: str, found: Written) -> None:
        real(self, qid, found)
        raise KeyboardInterrupt

    other = tmp_path / "killed"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Lists, "take", killed)
        write(demo, other, topics=TOPICS[:1])  # a shard, killed after its first window
    resumed = write(demo, other)
    assert resumed["held"] == 1 and resumed["made"] == receipt["made"] - 1
    assert view(demo, other)[0].equals(table)


def test_a_list_that_is_cut_is_written_again_once(demo: dict[str, Any], tmp_path: Path) -> None:
    limits = Limits(window=10, most=30, max_tokens=16)
    receipt = write(demo, tmp_path, limits)
    table, counts = view(demo, tmp_path, limits)
    assert counts["again"] == 2 and counts["cut"] == 2, "thirty texts take more than 32 tokens"
    assert receipt["made"] == 4
    assert sorted(pl.read_parquet(tmp_path / "answers/*/part-*.parquet")["answer_tokens"]) == [16, 16, 32, 32]
    assert not table["text"].str.contains('"').any()


def test_the_list_so_far_is_in_the_next_prompt() -> None:
    lists = Lists(TOPICS, TEMPLATE, LIMITS)
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
    with pytest.raises(InputError, match=r"expected at most .* window"):
        write({**demo, "max_model_len": 64}, tmp_path)
