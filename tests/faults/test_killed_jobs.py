"""Jobs killed at drawn places, after a number of rows or of parts: the next one goes on, to the same bytes."""

import os
import random
from pathlib import Path

import polars as pl
import pytest

from tests.support.killed_jobs import UNITS, results_of, run_job

MOST = {"rows": 9, "parts": 5, "half a part": 5}
ANSWERS = ["prompt_id", "seed"]
KEYS = {"generation": ANSWERS, "thinking": ANSWERS, "likelihoods": ["prompt_id", "continuation"],
        "scoring": ["answer_hash", "references_hash"]}  # fmt: skip
A_PART_A_ROW = 0.0
FILES = {"generation": 4, "thinking": 4, "likelihoods": 5, "scoring": 1, "encoding": 3}
PLACES = {"generation": 13, "thinking": 12, "likelihoods": 13, "scoring": 12, "encoding": 12}


def parts(cache: Path) -> dict[Path, bytes]:
    return {part: part.read_bytes() for part in sorted(cache.glob("*/print/part-*.parquet"))} or {
        part: part.read_bytes() for part in sorted(cache.glob("scores/*/part-*.parquet"))
    }


def results(cache: Path) -> dict[str, bytes]:
    folder = results_of(cache)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_end(job: str, cache: Path) -> None:
    """Run to the end, and once undisturbed: nothing was made twice, nothing is left, the bytes are the same.

    The undisturbed job's cache has its rows in fewer parts.
    """
    fresh = cache.with_name("fresh")
    assert run_job(job, {cache: A_PART_A_ROW, fresh: 60.0}) == 0
    if job in KEYS:
        assert len(parts(fresh)) < len(parts(cache))
    made, undisturbed = results(cache), results(fresh)
    assert len(made) >= FILES[job] and made.keys() == undisturbed.keys()
    assert [name for name, content in made.items() if content != undisturbed[name]] == []
    for name in made:
        assert not name.endswith(".parquet") or pl.read_parquet(results_of(cache) / name).height >= 8
    assert not list(cache.rglob(".tmp-*"))
    if job in KEYS:
        keys = pl.concat(pl.read_parquet(part, columns=KEYS[job]) for part in parts(cache))
        assert keys.is_unique().all(), "something was made twice"


def check_kills(job: str, folder: Path, draw: random.Random, places: int) -> None:
    """Kill ``job`` at so many ``places``, one after the other on a cache until that is full, then on the next."""
    kills, caches = 0, 0
    while kills < places:
        cache, left = folder / str(caches) / "cache", places - kills
        caches += 1
        for _ in range(left):
            unit = draw.choice(UNITS)
            number = draw.randint(1, 1 if job == "encoding" and unit != "rows" else MOST[unit])
            before = parts(cache)
            status = run_job(job, {cache: A_PART_A_ROW}, (number, unit))
            after = parts(cache)
            print(f"{job}: killed after {number} {unit}: {len(before)} parts before, {len(after)} after")
            assert after.items() >= before.items(), "a part was changed or removed"
            if status == 0:  # it was finished before that
                break
            assert status == -9
            kills += 1
        check_end(job, cache)


@pytest.mark.parametrize("job", PLACES)
def test_killed_once(tmp_path: Path, job: str) -> None:
    """The place is drawn once and for all."""
    check_kills(job, tmp_path, random.Random(f"{job} 1"), 1)


@pytest.mark.full
@pytest.mark.parametrize("job", PLACES)
def test_killed_at_drawn_places(tmp_path: Path, job: str) -> None:
    """All jobs together are killed at 62 places, others every time; ``KILL_SEED`` draws the same again."""
    seed = os.environ.get("KILL_SEED") or str(random.SystemRandom().randrange(10**6))
    print(f"KILL_SEED={seed}")
    check_kills(job, tmp_path, random.Random(f"{job} {seed}"), PLACES[job])


@pytest.mark.full
def test_ten_thousand_judgements(tmp_path: Path) -> None:
    """The demo's model is the worst judge there is, yet all have probabilities, and kills change none."""
    cache, fresh = tmp_path / "cache", tmp_path / "fresh"
    for killed in ((12_000, "rows"), (3, "half a part")):
        before = parts(cache)
        assert run_job("judgements", {cache: 1.0}, killed) == -9
        after = parts(cache)
        print(f"killed after {killed}: {len(before)} parts before, {len(after)} after")
        assert after.items() > before.items(), "a part was changed or removed, or none was written"
    assert run_job("judgements", {cache: 1.0, fresh: 60.0}) == 0
    assert results(cache).keys() == {"asked.parquet", "shares.parquet", "scores.parquet"}
    assert results(cache) == results(fresh)
    shares = pl.read_parquet(results_of(cache) / "shares.parquet")
    assert shares["prompt_id"].n_unique() == len(shares) == 10_000
    assert shares["shares"].list.len().eq(3).all() and shares["shares"].explode().is_finite().all()
    assert (shares["shares"].list.sum() - 1).abs().max() < 1e-9
    scores = pl.read_parquet(results_of(cache) / "scores.parquet")
    assert len(scores) == 8 * 25 and scores["f1"].null_count() == 0
