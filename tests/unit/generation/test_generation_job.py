"""Generation jobs with a fake engine: nothing is made twice, and no death of a job loses finished answers."""

import json
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import polars as pl
import pytest
from ragrelay.base.display import progress
from ragrelay.base.errors import InputError
from ragrelay.generation import job, token_progress
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.generator import Request
from ragrelay.generation.job import generate_answers, memory
from ragrelay.generation.requests import asked_keys, with_texts
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import Layout, kshot_prompts
from ragrelay.prompting.templates import Template

TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{text} ")


class FakeEngine:
    """Answers each request with its key, last request first; fails after ``fails_after`` answers."""

    name = "fake"
    device = "cpu"
    settings: Mapping[str, str] = MappingProxyType({"model_runner": "V1"})

    def __init__(
        self, version: str = "1", fails_after: int | None = None, error: type[BaseException] = RuntimeError
    ) -> None:
        self.version, self.fails_after, self.error = version, fails_after, error
        self.starts: list[int] = []
        self.made: list[tuple[str, int]] = []

    def start(self, generator: Mapping[str, Any], window: int) -> "FakeEngine":
        self.starts.append(window)
        return self

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        for request in reversed(list(requests)):
            if len(self.made) == self.fails_after:
                raise self.error("the engine died")
            self.made.append((request.prompt_id, request.seed))
            yield {
                "prompt_id": request.prompt_id, "seed": request.seed, "answer": f"answer {request.seed}",
                "finish_reason": "stop", "prompt_tokens": len(request.token_ids), "cached_tokens": 3,
                "answer_tokens": 2, "logprob": -1.0, "dropped_passages": request.dropped_passages,
            }  # fmt: skip


class Job:
    """A generation job over 4 queries, k = 1 and 2."""

    def __init__(self, folder: Path, generator: dict[str, Any]) -> None:
        self.folder, self.generator = folder, generator
        self.queries = pl.DataFrame({"qid": ["a", "b", "c", "d"], "query": ["one", "two", "three", "four"]})
        rows = [(qid, rank, f"{qid}{rank}", f"passage {rank} of {qid}") for qid in "abcd" for rank in (1, 2)]
        contexts = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
        self.queries.write_parquet(folder / "queries.parquet")
        contexts.write_parquet(folder / "contexts.parquet")
        for k in (1, 2):
            kshot_prompts(self.queries, contexts, TEMPLATE, "descending", k).write_parquet(folder / f"k{k}.parquet")
        self.layout = Layout(TEMPLATE, folder / "queries.parquet", {"bm25": folder / "contexts.parquet"})

    def store(self) -> AnswerStore:
        return AnswerStore(self.folder / "cache", "fp")

    def asked(self, ks: tuple[int, ...] = (1, 2), seeds: tuple[int, ...] = (1, 2)) -> pl.DataFrame:
        return asked_keys({"bm25": [self.folder / f"k{k}.parquet" for k in ks]}, seeds)

    def run(self, engine: FakeEngine, asked: pl.DataFrame | None = None, **generator: Any) -> dict[str, Any]:
        keys = self.asked() if asked is None else asked
        return generate_answers(keys, self.store(), {**self.generator, **generator}, self.layout, engine.start)


@pytest.fixture
def small(tmp_path: Path, generator: dict[str, Any]) -> Job:
    return Job(tmp_path, generator)


def keys_of(frame: pl.DataFrame) -> set[tuple[Any, ...]]:
    return set(frame.select("prompt_id", "seed").rows())


def test_everything_is_made_and_told(small: Job) -> None:
    engine = FakeEngine()
    receipt = small.run(engine)
    asked = small.asked()
    assert (receipt["asked"], receipt["cached"], receipt["made"]) == (16, 0, 16)
    assert engine.starts == [512] and len(engine.made) == 16 and set(engine.made) == keys_of(asked)
    tokens = 2 * sum(len(prompt.encode()) + 1 for prompt in pl.concat(with_texts(asked.filter(seed=1)))["prompt"])
    assert (receipt["prompt_tokens"], receipt["cached_tokens"], receipt["answer_tokens"]) == (tokens, 48, 32)
    assert receipt["over_window"] == {} and receipt["fingerprint"] == "fp" and receipt["window"] == 512
    assert (receipt["engine"], receipt["version"], receipt["device"]) == ("fake", "1", "cpu")
    assert receipt["engines"] == {"fake 1 on cpu": 16}
    found = small.store().look_up(asked)
    assert keys_of(found) == keys_of(asked)
    assert found.filter(pl.col("answer") != "answer " + pl.col("seed").cast(pl.String)).is_empty()


def test_progress_says_whose_it_is(
    small: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setattr(progress, "PAUSE_SHARE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.prefixed("generate_answers demo lm bm25 0"):
        small.run(FakeEngine())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 16
    assert re.fullmatch(
        r"generate_answers demo lm bm25 0: 16 of 16 answers, ([\d,]+) of about \1 tokens, 0:00:00 left", lines[-1]
    )


def test_what_is_to_be_made_is_told_before_the_engine_starts(
    small: Job, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Tokens are those of the prompts; a product of matrices tells the time until a job has run."""
    caplog.set_level(logging.INFO, token_progress.__name__)
    caplog.set_level(logging.INFO, job.__name__)
    monkeypatch.setattr(token_progress, "product_seconds", lambda dtype, size, tries: 1024**3 * 1e-6)
    said: list[str] = []

    class Engine(FakeEngine):
        def start(self, generator: Mapping[str, Any], window: int) -> "FakeEngine":
            said.append(caplog.messages[-1])
            return super().start(generator, window)

    receipt = small.run(Engine())
    (weights,) = Path(small.generator["model"]).glob("*.safetensors")
    tokens = receipt["prompt_tokens"]
    parts = re.fullmatch(
        rf"to generate: 16 answers, about {tokens:,} prompt tokens, ([\d,]+) of them not in the prefix cache, at most "
        r"256 answer tokens; about (\d+):(\d\d):(\d\d) from the engine's start, by a product of matrices", said[0]
    )  # fmt: skip
    assert parts, said
    computed, hours, minutes, seconds = (int(part.replace(",", "")) for part in parts.groups())
    assert tokens / 2 < computed < tokens, "the second seed's prompts are in the cache, but for their last block"
    each = token_progress.LOST * weights.stat().st_size / 4 * 1e-6
    assert (hours * 60 + minutes) * 60 + seconds == pytest.approx(each * (computed + 1.5 * 256), abs=each + 1)
    small.run(Engine(), small.asked(seeds=(3,)))
    assert re.search("about 16 answer tokens; about .* by earlier jobs on cpu$", said[1])


def test_nothing_missing_starts_no_engine(small: Job) -> None:
    small.run(FakeEngine())
    engine = FakeEngine()
    receipt = small.run(engine)
    assert engine.starts == []
    assert (receipt["asked"], receipt["cached"], receipt["made"]) == (16, 16, 0)
    assert "engine" not in receipt and receipt["engines"] == {"fake 1 on cpu": 16}
    assert len(small.store().parts()) == 1


def test_only_what_is_new(small: Job) -> None:
    small.run(FakeEngine(), small.asked(ks=(1,), seeds=(1,)))
    engine = FakeEngine("2")
    receipt = small.run(engine, small.asked())
    assert (receipt["cached"], receipt["made"]) == (4, 12)
    assert set(engine.made) == keys_of(small.asked()) - keys_of(small.asked(ks=(1,), seeds=(1,)))
    assert receipt["engines"] == {"fake 1 on cpu": 4, "fake 2 on cpu": 12}
    assert receipt["settings"] == {"model_runner": {"V1": 16}}


def test_settings_that_differ_and_parts_that_say_none(small: Job) -> None:
    """A part of before settings were written counts with none of them: it may have had the same."""
    before, runner = FakeEngine(), FakeEngine()
    before.settings, runner.settings = {}, {"model_runner": "V2", "attention_backend": "FLASH_ATTN"}
    small.run(before, small.asked(ks=(1,), seeds=(1,)))
    small.run(FakeEngine(), small.asked(ks=(1,)))
    receipt = small.run(runner)
    assert receipt["engines"] == {"fake 1 on cpu": 16}
    assert receipt["settings"] == {"model_runner": {"V1": 4, "V2": 8}, "attention_backend": {"FLASH_ATTN": 8}}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_killed_in_the_middle(small: Job, error: type[BaseException]) -> None:
    """What was finished is kept, and the next run makes only the rest."""
    dying = FakeEngine(fails_after=5, error=error)
    with pytest.raises(error):
        small.run(dying)
    assert keys_of(small.store().held(small.asked())) == set(dying.made) and len(dying.made) == 5
    engine = FakeEngine()
    receipt = small.run(engine)
    assert (receipt["cached"], receipt["made"]) == (5, 11)
    assert not set(engine.made) & set(dying.made)
    assert set(engine.made) | set(dying.made) == keys_of(small.asked())


@pytest.mark.parametrize("value", [0.5, float("nan")])
def test_no_log_probability_of_an_engine_is_above_0(small: Job, value: float) -> None:
    """What came before is kept."""

    class Wrong(FakeEngine):
        def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
            for number, row in enumerate(super().answers(requests)):
                yield row | {"logprob": value if number == 3 else 1e-6}

    with pytest.raises(
        InputError, match=rf"^fake 1 on cpu: found a log-probability of {value} after prompt \w+; expected"
    ):
        small.run(Wrong())
    assert small.store().held(small.asked()).height == 3


def test_killed_before_the_first_answer(small: Job) -> None:
    with pytest.raises(RuntimeError, match="the engine died"):
        small.run(FakeEngine(fails_after=0))
    assert small.store().parts() == []


def test_parts_are_written_as_time_goes(small: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a job is killed by kill -9, only what came after the last part is lost."""
    clock = iter(range(0, 10_000, 25))
    monkeypatch.setattr(job, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    engine, seen = FakeEngine(), []
    answers = engine.answers

    def watched(requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        for row in answers(requests):
            seen.append(len(small.store().held(small.asked())))
            yield row

    monkeypatch.setattr(engine, "answers", watched)
    small.run(engine)
    assert seen[0] == 0 and seen == sorted(seen) and len(set(seen)) >= 4, seen
    assert max(made - held for made, held in enumerate(seen)) <= 4, seen
    assert len(small.store().held(small.asked())) == 16
    assert sum(len(pl.read_parquet(part)) for part in small.store().parts()) == 16, "each row in one part"


def test_part_metadata(small: Job) -> None:
    small.run(FakeEngine("7"))
    store = small.store()
    found = store.metadata(store.parts()[0])
    assert (found["engine"], found["version"], found["device"]) == ("fake", "7", "cpu")
    assert found["model_runner"] == "V1"
    assert float(found["seconds"]) >= 0 and int(found["peak_memory_mib"]) > 10


def test_prompts_are_checked_before_the_engine_starts(small: Job) -> None:
    engine = FakeEngine()
    with pytest.raises(InputError, match="over_window: truncate"):
        small.run(engine, max_model_len=45)
    assert engine.starts == [] and small.store().parts() == []


def two_retrievers(small: Job, *more: str) -> pl.DataFrame:
    """Asked keys of bm25 with k = 1, and of dense with k = 2, whose prompts are longer; and ``more`` files of k = 2."""
    files = {"zeroshot": [], "bm25": [small.folder / "k1.parquet"], "dense": [small.folder / "k2.parquet"]}
    return asked_keys({**files, **{name: [small.folder / "k2.parquet"] for name in more}}, [1, 2])


def test_a_prompt_over_the_window_stops_no_other_retriever(small: Job, caplog: pytest.LogCaptureFixture) -> None:
    engine, asked = FakeEngine(), two_retrievers(small)
    with caplog.at_level(logging.WARNING):
        receipt = small.run(engine, asked, max_model_len=45)
    assert (receipt["asked"], receipt["made"], len(receipt["over_window"])) == (16, 8, 4)
    assert receipt["over_window"].keys() == set(asked.filter(retriever="dense")["prompt_id"])
    place, found, expected = next(iter(receipt["over_window"].values()))
    assert place.endswith("with 2 passages") and found.endswith(" tokens") and "over_window: truncate" in expected
    assert "left out prompts of dense: 4; the first error: " in caplog.text
    assert keys_of(small.store().held(asked)) == keys_of(asked.filter(retriever="bm25"))
    again = small.run(FakeEngine(), asked, max_model_len=45)
    assert (again["cached"], again["made"], again["over_window"]) == (8, 0, receipt["over_window"])
    cells = {("descending", 2, seed): small.folder / f"{seed}.parquet" for seed in (1, 2)}
    record = small.folder / "receipt.json"
    record.write_text(json.dumps(receipt))
    with pytest.raises(InputError, match=r"with 2 passages: found \d+ tokens \(and 3 more prompts like this\); ex"):
        view_answers({("descending", 2): small.folder / "k2.parquet"}, small.store(), cells, receipts=[record])
    assert not any(path.exists() for path in cells.values())


def test_no_engine_starts_where_no_retriever_fits_the_window(small: Job) -> None:
    engine = FakeEngine()
    with pytest.raises(InputError, match="over_window: truncate"):
        small.run(engine, two_retrievers(small), max_model_len=30)
    assert engine.starts == [] and small.store().parts() == []


@pytest.mark.parametrize("over_window", ["truncate", "error"])
def test_what_is_left_out_ends_no_job_where_others_are_truncated(small: Job, over_window: str) -> None:
    """Changed contexts are not made shorter, and those of one retriever are all there may be."""
    asked, engine = small.asked(), FakeEngine()
    generator = {**small.generator, "max_model_len": 45, "over_window": over_window}
    layout = Layout(TEMPLATE, small.folder / "queries.parquet", {})
    if over_window == "error":
        with pytest.raises(InputError, match="over_window: truncate"):
            generate_answers(asked, small.store(), generator, layout, engine.start, leaves_out=True)
    else:
        receipt = generate_answers(asked, small.store(), generator, layout, engine.start, leaves_out=True)
        assert (receipt["asked"], receipt["made"], len(receipt["over_window"])) == (16, 8, 4)
        assert small.store().look_up(asked)["dropped_passages"].sum() == 0


@pytest.mark.parametrize("numbers", [(1, 3), (4, 2)])
def test_another_number_of_shards_makes_no_answer_again(small: Job, numbers: tuple[int, int]) -> None:
    made = []
    for shards in numbers:
        engine, files = FakeEngine(), {"bm25": [small.folder / f"k{k}.parquet" for k in (1, 2)]}
        receipts = [small.run(engine, asked_keys(files, [1, 2], shard, shards)) for shard in range(shards)]
        made.append((sum(one["made"] for one in receipts), len(engine.starts)))
    assert made == [(16, numbers[0]), (0, 0)]


def test_dropped_passages_are_counted(small: Job) -> None:
    receipt = small.run(FakeEngine(), max_model_len=45, over_window="truncate")
    assert receipt["made"] == 16, "one of each of 4 queries at k = 2, for 2 seeds, is shorter"
    assert small.store().look_up(small.asked())["dropped_passages"].sum() == 8


def test_memory_of_a_gpu_is_told_where_there_is_one(small: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake torch has a GPU of 80 GiB, of which 60 are taken."""
    small.run(FakeEngine())
    part = small.store().parts()[0]
    assert "gpu_memory_mib" not in small.store().metadata(part)
    cuda = SimpleNamespace(is_available=lambda: True, mem_get_info=lambda: (20 * 2**30, 80 * 2**30))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert memory()["gpu_memory_mib"] == str(60 * 1024)
    assert int(memory()["peak_memory_mib"]) > 10


def test_damaged_part_is_made_again(small: Job, caplog: pytest.LogCaptureFixture) -> None:
    small.run(FakeEngine())
    part = small.store().parts()[0]
    part.write_bytes(part.read_bytes()[:200])
    engine = FakeEngine()
    with caplog.at_level(logging.WARNING):
        receipt = small.run(engine)
    assert receipt["made"] == 16 and "damaged" in caplog.text


def test_two_jobs_that_share_keys(small: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other job appends while this one's engine works: the receipt tells what the views will take."""
    engine, other = FakeEngine("late"), FakeEngine("early")
    answers: Callable[[Iterator[Request]], Iterator[dict[str, Any]]] = engine.answers

    def meanwhile(requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        taken = list(requests)
        small.run(other, small.asked(ks=(1,)))
        yield from answers(iter(taken))

    monkeypatch.setattr(engine, "answers", meanwhile)
    receipt = small.run(engine)
    assert (receipt["made"], len(other.made)) == (16, 8)
    assert receipt["engines"] == {"fake early on cpu": 8, "fake late on cpu": 8}
