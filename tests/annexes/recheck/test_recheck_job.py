"""A recheck's job with a fake endpoint, which no vLLM can stand for: another answer, none, and no server at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.recheck.job import recheck_answers
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import READ_ONLY, VARIABLE
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.io.keyed_files import KeyedFiles, of_pattern
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.requests import requests_of
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template

from tests.support.fake_endpoint import DEFINITION, FakeServer

PATTERN = "{retriever}/{ordering}/k{k}.parquet"
GENERATOR = {**DEFINITION, "flush_seconds": 60.0, "over_window": "error", "retriever": "unused"}
LAYOUT = Layout(Template(zeroshot="{query}", kshot="{contexts}{query}", context="{text} "), Path("none"), {})


def prompts(folder: Path) -> KeyedFiles:
    """Prompts of four queries, without context and of one retriever; one of these shows nothing, as without context."""
    paths = []
    for cell, start in (("zeroshot/none/k0", ""), ("bm25/descending/k1", "context of ")):
        texts = {f"q{place}": f"{start * (place > 0)}question {place}" for place in range(4)}
        rows = [
            {"qid": qid, "docnos": list[str](), "prompt": text, "system": "", "prompt_id": text_hash(text)}
            for qid, text in texts.items()
        ]
        path = folder / f"{cell}.parquet"
        path.parent.mkdir(parents=True)
        pl.DataFrame(rows, schema_overrides={"docnos": pl.List(pl.String)}).write_parquet(path)
        paths.append(str(path))
    return of_pattern(PATTERN, paths)


def start(generator: Mapping[str, Any], window: int | None) -> EndpointEngine:
    return EndpointEngine(generator)


class NewTexts(dict[str, str]):
    """Another text each time that one is asked for."""

    def get(self, *_: object) -> str:  # type: ignore[override]
        self[str(len(self))] = ""
        return f"text {len(self)}"


@pytest.fixture
def stored(tmp_path: Path) -> AnswerStore:
    """The store after a server has answered every prompt with every seed."""
    store, server = AnswerStore(tmp_path / "cache", "fingerprint"), FakeServer()
    keys = pl.concat(pl.read_parquet(path) for path in prompts(tmp_path / "prompts").paths)
    keys = keys.unique("prompt_id").with_columns(retriever=pl.lit("")).join(pl.DataFrame({"seed": [1, 2]}), how="cross")
    engine = EndpointEngine({**GENERATOR, "base_url": server.address})
    requests = requests_of(keys, GENERATOR, None, LAYOUT)
    store.append(list(engine.answers(requests)), {"engine": "openai", "version": "0", "device": "endpoint"})
    return store


def run(folder: Path, stored: AnswerStore, address: Any, number: int = 200) -> tuple[pl.DataFrame, dict[str, Any]]:
    files = of_pattern(PATTERN, [str(path) for path in sorted((folder / "prompts").rglob("*.parquet"), reverse=True)])
    return recheck_answers(files, [1, 2], stored, {**GENERATOR, "base_url": address}, LAYOUT, number, start)


def test_the_same_server_and_another(tmp_path: Path, stored: AnswerStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each distinct prompt once per seed; nothing is written, so that a cache may be read-only."""
    monkeypatch.setenv(VARIABLE, READ_ONLY)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    server = FakeServer()
    rows, receipt = run(tmp_path, stored, server.address)
    assert rows.height == 7 * 2 and rows["equal"].all() and set(rows["unit"]) == {"words"}
    assert rows.select(KEY).n_unique() == 14 == len(server.bodies)
    assert dict(rows["retriever"].value_counts().iter_rows()) == {"zeroshot": 8, "bm25": 6}
    assert set(rows.filter(retriever="bm25").select("ordering", "k").iter_rows()) == {("descending", 1)}
    assert (receipt["stored"], receipt["drawn"]) == (14, 14)
    assert receipt["then"]["engines"] == {"openai 0 on endpoint": 14}
    [(maker, number)] = receipt["now"]["engines"].items()
    assert maker.startswith("openai ") and maker.endswith(" on endpoint") and number == 14
    assert receipt["now"]["addresses"] == [server.address] and "processor" not in receipt["now"]
    other = FakeServer()
    other.text = {"question 2": " to question two ", "question 3": ""}
    rows, _ = run(tmp_path, stored, other.address)
    differ = rows.filter(~pl.col("equal")).sort("answer_now", "seed")
    assert differ["qid"].to_list() == ["q3", "q3", "q2", "q2"] and differ["same_until"].to_list() == [0, 0, 2, 2]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_second_making_tells_the_machine_from_the_model(tmp_path: Path, stored: AnswerStore) -> None:
    """Where an answer differs, all are made once more, in two halves; where none does, they are not."""
    same, changed, unsteady = FakeServer(), FakeServer(), FakeServer()
    rows, _ = run(tmp_path, stored, same.address)
    assert rows["equal_here"].null_count() == rows.height == len(same.bodies)
    changed.text = {"question 2": "another"}
    rows, _ = run(tmp_path, stored, changed.address)
    assert not rows["equal"].all() and rows["equal_here"].to_list() == [True] * 14 and len(changed.bodies) == 28
    unsteady.text = NewTexts()
    rows, _ = run(tmp_path, stored, unsteady.address)
    assert not rows["equal_here"].any() and len(unsteady.bodies) == 28


@pytest.mark.parametrize("order", [1, -1])
def test_only_addresses_that_replied_are_named(tmp_path: Path, stored: AnswerStore, order: int) -> None:
    """As they are configured, and each once; a dead one made none of the answers."""
    live, dead = FakeServer(), FakeServer()
    dead.server.server_close()
    rows, receipt = run(tmp_path, stored, [dead.address, live.address, live.address][::order])
    assert rows["equal"].all() and len(live.bodies) == rows.height
    assert receipt["now"]["addresses"] == [live.address]


def test_as_many_as_are_asked_for_the_longest_first(tmp_path: Path, stored: AnswerStore) -> None:
    server = FakeServer()
    rows, receipt = run(tmp_path, stored, server.address, 5)
    assert rows.height == receipt["drawn"] == len(server.bodies) == 5 and receipt["stored"] == 14
    longest = max(len(str(body["prompt"])) for body in server.bodies)
    assert len(str(server.bodies[0]["prompt"])) == longest


def test_no_server_and_no_answer_in_the_store(tmp_path: Path, stored: AnswerStore) -> None:
    server = FakeServer()
    server.server.server_close()
    generator = {**GENERATOR, "max_retries": 0, "base_url": server.address}
    files = of_pattern(PATTERN, [str(path) for path in (tmp_path / "prompts").rglob("*.parquet")])
    with pytest.raises(InputError, match=r"endpoint http://127\.0\.0\.1"):
        recheck_answers(files, [1], stored, generator, LAYOUT, 3, start)
    with pytest.raises(InputError, match="found none of the study's answers; expected at least one answer"):
        run(tmp_path, AnswerStore(tmp_path / "other", "fingerprint"), server.address)
