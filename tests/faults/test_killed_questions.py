"""Jobs that ask a question to a model are killed and resumed: what was answered before is not asked again."""

import os
import random
from pathlib import Path

import polars as pl
import pytest
from ragrelay.questions.question import questions

from tests.support.killed_jobs import UNITS, results_of, run_job
from tests.support.killed_questions import INPUTS

KEYS = {"likelihoods": ["prompt_id", "continuation"], "answers": ["prompt_id", "seed"]}
EACH_ROW, AT_THE_END = 0.0, 60.0


def rows(cache: Path) -> dict[Path, pl.DataFrame]:
    """Keys of every store of the cache, in the order of its parts."""
    parts: dict[Path, list[pl.DataFrame]] = {}
    for part in sorted(cache.glob("*/*/part-*.parquet")):
        store = part.parent.relative_to(cache)
        parts.setdefault(store, []).append(pl.read_parquet(part, columns=KEYS[store.parts[0]]))
    return {store: pl.concat(frames) for store, frames in parts.items()}


def check_kills(job: str, folder: Path, draw: random.Random, kills: int) -> None:
    """Kill ``job`` so often, at drawn rows or parts; at the end the stores have every key once, and no other key."""
    cache, fresh, killed = folder / "cache", folder / "fresh", 0
    for _ in range(kills):
        place = (draw.randint(1, 4), draw.choice(UNITS))
        status = run_job(job, {cache: EACH_ROW}, place)
        print(f"{job}: killed after {place}: {status}")
        assert status in (0, -9)
        killed += status == -9
    assert killed, "nothing was killed"
    assert run_job(job, {cache: EACH_ROW, fresh: AT_THE_END}) == 0
    resumed, undisturbed = rows(cache), rows(fresh)
    assert resumed.keys() == undisturbed.keys() != set()
    for store, keys in resumed.items():
        assert keys.is_unique().all(), f"{store}: something was asked twice"
        columns = keys.columns
        assert keys.sort(columns).equals(undisturbed[store].sort(columns))
    assert not list(cache.rglob(".tmp-*"))
    for path in results_of(cache).iterdir():
        assert path.read_bytes() == (results_of(fresh) / path.name).read_bytes()


def test_every_question_is_killed_here() -> None:
    assert INPUTS.keys() == {question.asks for question in questions()}


def test_killed_once(tmp_path: Path) -> None:
    """One process asks all questions, one job after the other."""
    check_kills("questions", tmp_path, random.Random("questions 1"), 1)


@pytest.mark.full
@pytest.mark.parametrize("name", INPUTS)
def test_killed_at_drawn_places(tmp_path: Path, name: str) -> None:
    """The places are others every time; ``KILL_SEED`` draws the same again."""
    seed = os.environ.get("KILL_SEED") or str(random.SystemRandom().randrange(10**6))
    print(f"KILL_SEED={seed}")
    check_kills(name, tmp_path, random.Random(f"{name} {seed}"), 3)
