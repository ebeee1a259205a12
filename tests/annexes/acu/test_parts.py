"""A job asks about all parts of a question with one engine; each table is read from the stores, without one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.acu.questions import judge_evidence
from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.generation.engines.vllm import Vllm
from ragrelay.generation.likelihoods.asker import EngineAsker, StoreAsker
from ragrelay.generation.likelihoods.continuations import continuation_id
from ragrelay.generation.likelihoods.scoring import Scoring
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.questions.parts import ask_parts, read_parts

from tests.support.sandbox import ROOT

MODEL = str(ROOT / "resources/demo/model")
EVIDENCE = {"few": ["The BBC says so.", "It is."], "more": ["It is.", "A study."], "long": ["So.", "word " * 200]}
"""Texts of each set of claims. Two share one, and a text of `long` is over the window."""


class FakeEngine:
    """Scores every continuation with -1, and counts its starts."""

    name, version, device, settings = "fake", "1", "cpu", MappingProxyType[str, str]({})

    def __init__(self, error: Exception | None = None) -> None:
        self.starts, self.error = 0, error

    def start(self, definition: Mapping[str, Any], window: int, threads: int) -> "FakeEngine":
        self.starts += 1
        if self.error:
            raise self.error
        return self

    def run(self, function: Any, requests: Iterator[Scoring]) -> Iterator[dict[str, Any]]:
        for request in requests:
            for continuation in request.continuations:
                counts = {"tokens": len(continuation), "requests": 1, "prompt_tokens": 1, "cached_tokens": 0}
                key = {"prompt_id": request.prompt_id, "continuation": continuation_id(continuation)}
                yield {**key, "logprob": -1.0, **counts}


class Asked:
    """The question judge_evidence about some sets of claims, with a cache of its own."""

    def __init__(self, folder: Path, generator: Mapping[str, Any]) -> None:
        self.folder, self.generator = folder, {**generator, "model": MODEL, "max_model_len": 128}
        self.fingerprint = likelihood_fingerprint(self.generator)
        for name, texts in EVIDENCE.items():
            self.write(name, texts)

    def write(self, name: str, texts: Sequence[str]) -> None:
        claims = pl.DataFrame({"id": [f"{name} {place}" for place in range(len(texts))], "evidence": texts})
        write_parquet(claims, self.folder / f"{name}.parquet")

    def given(self, *names: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The inputs of a job about these sets, and its parts."""
        parts = [
            {"files": {"claims": [place]}, "settings": {}, "wildcards": {"claims": name}}
            for place, name in enumerate(names)
        ]
        return {"claims": [str(self.folder / f"{name}.parquet") for name in names]}, parts

    def ask(self, engine: FakeEngine, *names: str) -> dict[str, Any]:
        engine_asker = EngineAsker(self.generator, self.fingerprint, self.folder / "cache", 1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Vllm, "start", engine.start)
            receipt = ask_parts("judge_evidence", *self.given(*names), engine_asker)
        write_json(receipt, self.folder / "receipt.json")
        return receipt

    def read(self, name: str) -> pl.DataFrame:
        inputs, [part] = self.given(name)
        store_asker = StoreAsker(self.generator, self.fingerprint, "texts", self.folder / "cache", "judge_evidence")
        files = {**inputs, "receipt": str(self.folder / "receipt.json")}
        table: pl.DataFrame = read_parts("judge_evidence", files, [part, part], store_asker, None)["judged"]
        return table


@pytest.fixture
def sets(tmp_path: Path, generator: dict[str, Any]) -> Asked:
    return Asked(tmp_path, generator)


def test_one_start_for_all_parts_and_none_for_what_is_held(sets: Asked) -> None:
    engine = FakeEngine()
    receipt = sets.ask(engine, "few", "more")
    assert engine.starts == 1
    first, second = receipt["parts"]
    assert [one["wildcards"]["claims"] for one in (first, second)] == ["few", "more"]
    assert first["cached"] == 0
    assert second["cached"] == second["made"] == first["made"] // 2 > 0, "the text that both have"
    for name in ("asked", "cached", "made"):
        assert receipt[name] == first[name] + second[name]
    assert sets.ask(engine, "few", "more")["made"] == 0 and engine.starts == 1
    sets.write("more", ["It is.", "Another."])
    again = sets.ask(engine, "few", "more")
    assert [part["made"] > 0 for part in again["parts"]] == [False, True] and engine.starts == 2


def test_a_table_is_read_without_an_engine(sets: Asked) -> None:
    sets.ask(FakeEngine(), "few", "more")
    for name in ("few", "more"):
        table = sets.read(name)
        assert table["id"].to_list() == [f"{name} 0", f"{name} 1"]
        assert table["p_refers"].is_between(0, 1, closed="none").all()


def test_a_table_is_made_with_the_receipt_as_a_file_has_it(sets: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of its words decides the last bit of a sum, and the questions' own order is another: Yes, No."""
    sets.ask(FakeEngine(), "few")
    given: list[Mapping[str, Any]] = []
    monkeypatch.setattr(
        judge_evidence, "read", lambda job, receipt, cache_dir: given.append(receipt) or {"judged": None}
    )
    sets.read("few")
    assert list(given[0]["tokens"]) == ["No", "Yes"] and given[0]["words"] == ["Yes", "No"]


def test_what_the_store_does_not_hold_is_refused_and_the_rule_is_named(sets: Asked) -> None:
    sets.ask(FakeEngine(), "few")
    sets.read("few")
    with pytest.raises(InputError, match=r"no likelihood for \d of \d continuations; .* --forcerun judge_evidence$"):
        sets.read("more")


def test_a_prompt_over_the_window_stops_only_its_own_part(sets: Asked) -> None:
    engine = FakeEngine()
    receipt = sets.ask(engine, "few", "long", "more")
    assert ["refused" in part for part in receipt["parts"]] == [False, True, False] and engine.starts == 1
    assert receipt["asked"] == sum(part.get("asked", 0) for part in receipt["parts"]) > 0
    for name in ("few", "more"):
        sets.read(name)
    with pytest.raises(RequestError, match=r"\d tokens; expected fewer than the window's 128$"):
        sets.read("long")


def test_a_question_without_any_possible_part_ends_before_an_engine_starts(sets: Asked) -> None:
    engine = FakeEngine()
    with pytest.raises(RequestError, match=r"\d tokens; expected fewer than the window's 128$"):
        sets.ask(engine, "long")
    assert engine.starts == 0


def test_an_engine_that_does_not_start_is_no_fault_of_a_part(sets: Asked) -> None:
    """Its job fails, so that the same command tries again, also where another part has all it needs."""
    sets.ask(FakeEngine(), "few")
    engine = FakeEngine(RuntimeError("no memory"))
    with pytest.raises(InputError, match="a failed start"):
        sets.ask(engine, "few", "more", "long")
    assert engine.starts == 1
