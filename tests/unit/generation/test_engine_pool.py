"""Engines side by side in one job: the same answers and likelihoods as one engine's; a real pool of two on the CPU."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.engine_pool import CHUNK, EnginePool, visible_devices
from ragrelay.generation.engines.vllm import Vllm
from ragrelay.generation.job import memory
from ragrelay.generation.likelihoods.scoring import log_probabilities, scorings
from ragrelay.generation.requests import Request
from ragrelay.generation.token_progress import PROGRESS
from ragrelay.generation.tokens import PromptTokenizer

from tests.support.pool_methods import fail, place, tell
from tests.support.sandbox import ROOT
from tests.support.waiting import wait_for

WINDOW = 512


def test_each_engine_has_gpus_of_its_own() -> None:
    assert visible_devices(2, 2, None) == ["0,1", "2,3"]
    assert visible_devices(2, 1, "GPU-a,GPU-b,GPU-c") == ["GPU-a", "GPU-b"]
    with pytest.raises(InputError, match=r"CUDA_VISIBLE_DEVICES.*found '0,1'; expected 4 GPUs, as 2 engines_per_job"):
        visible_devices(2, 2, "0,1")


def test_a_job_asks_for_the_gpus_of_all_its_engines() -> None:
    assert (
        Vllm.model_validate({"model": "m", "prompt": "p", "tensor_parallel_size": 2, "engines_per_job": 4}).gpus() == 8
    )


@pytest.fixture(scope="module")
def definition(tiny_llama: Path) -> dict[str, Any]:
    given = {"model": str(tiny_llama), "prompt": "tian2025", "dtype": "float32"}
    return {
        **Vllm.model_validate(given).model_dump(exclude_none=True),
        "engine": "vllm",
        "engines_per_job": 2,
        "max_tokens": 20,
        "max_num_seqs": 8,
    }


@pytest.fixture(scope="module")
def requests(definition: dict[str, Any]) -> list[Request]:
    tokens = PromptTokenizer(definition)
    texts = [f"Question: what is {word}?\nAnswer:" for word in ("tea", "iron", "rain", "a hill", "gold")]
    return [Request(str(place), seed, tokens(text, "")) for place, text in enumerate(texts) for seed in range(15)]


@pytest.fixture(scope="module")
def pool(definition: dict[str, Any]) -> Iterator[EnginePool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        started = Vllm.start(definition, WINDOW, 2)
    assert isinstance(started, EnginePool)
    yield started


def sorted_rows(rows: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort rows by key, without what depends on what the cache held."""
    kept = [{key: value for key, value in row.items() if key != "cached_tokens"} for row in rows]
    return sorted(kept, key=lambda row: (row["prompt_id"], row.get("seed", 0), row.get("continuation", "")))


@pytest.mark.engine
def test_the_same_rows_as_one_engine(pool: EnginePool, definition: dict[str, Any], requests: list[Request]) -> None:
    alone = VllmEngine(definition, WINDOW, threads=1)
    assert sorted_rows(pool.answers(iter(requests))) == sorted_rows(alone.answers(iter(requests)))
    shorter = {**definition, "max_tokens": 3}
    some = requests[:20]
    few = sorted_rows(pool.asked_with(shorter).answers(iter(some)))
    assert few == sorted_rows(alone.asked_with(shorter).answers(iter(some)))
    assert max(row["answer_tokens"] for row in few) <= 3
    scored = [one for request in some for one in scorings(request.prompt_id, request.token_ids, [[5], [80], [7, 8]])]
    of_pool = sorted_rows(pool.run(log_probabilities, iter(scored)))
    assert len(of_pool) == 60 and of_pool == sorted_rows(alone.run(log_probabilities, iter(scored)))
    assert (pool.version, pool.device) == (alone.version, alone.device)
    assert pool.settings == {**alone.settings, "engines": "2"}


@pytest.mark.engine
def test_all_engines_work_and_each_request_is_made_once(pool: EnginePool) -> None:
    rows = list(pool.run(place, iter(range(1000))))
    assert sorted(row["request"] for row in rows) == list(range(1000))
    of_each = Counter((row["process"], row["devices"]) for row in rows)
    assert sorted(devices for _, devices in of_each) == ["0", "1"] and min(of_each.values()) >= CHUNK
    own = int(next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line).split()[1])
    assert int(memory()["peak_memory_mib"]) > own // 1024 + 500, "that of two engines is in it"
    assert list(pool.run(place, iter([]))) == []


@pytest.mark.engine
def test_the_tokens_of_unfinished_answers_are_those_of_all_engines(pool: EnginePool) -> None:
    told: list[tuple[float, float]] = []
    reset = PROGRESS.set(SimpleNamespace(begun=lambda *tokens: told.append(tokens)))
    try:
        rows = list(pool.run(tell, iter(range(1000))))
    finally:
        PROGRESS.reset(reset)
    assert len(rows) == 1000 and told == [(3.0, 40.0), (6.0, 80.0)]
    assert len(list(pool.run(tell, iter(range(10))))) == 10, "without a progress, as of a recheck"


@pytest.mark.engine
def test_what_an_engine_says_when_it_fails_ends_the_job(pool: EnginePool) -> None:
    with pytest.raises(RuntimeError, match="ValueError: too hot"):
        list(pool.run(fail, iter(range(10))))


@pytest.mark.engine
def test_an_engine_that_can_not_start_says_why_as_one_engine_does(definition: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="batch_invariant: found true on a machine without an NVIDIA GPU; expected"):
        EnginePool({**definition, "batch_invariant": True}, WINDOW, 2)


@pytest.mark.engine
def test_an_engine_that_is_killed_ends_the_job_and_the_others(
    definition: dict[str, Any], requests: list[Request]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        pool = EnginePool(definition, WINDOW, 2)
    first, second = {row["process"] for row in pool.run(place, iter(range(64)))}
    os.kill(first, signal.SIGTERM)
    assert len(list(pool.run(place, iter(range(64))))) == 64, "SIGTERM is the job's to obey"
    os.kill(first, signal.SIGSTOP)
    rows = pool.answers(iter(requests))
    assert next(rows)["answer_tokens"]
    os.kill(first, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="the process of an engine ended"):
        list(rows)
    del rows, pool
    wait_for("the other engine's end", lambda: ended(second), 200)


def ended(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"
