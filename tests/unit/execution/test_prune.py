"""What the target cache_prune removes, and what keeps it from removing anything."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io import cache_use
from ragrelay.base.io.cache_use import FOLDER, REMOVAL, RUN, Use, in_use, note_run
from ragrelay.execution.plan.cache import RECENT, Needed, prune_cache
from ragrelay.generation.store import SCHEMA, AnswerStore

NEEDED, OTHERS, OLD = ("0123456789abcdef", "1123456789abcdef", "2123456789abcdef")
INDEX = "a" * 24
KEYS = pl.DataFrame({"prompt_id": ["p"], "seed": [1]})

HOLD = """
import sys
sys.path.insert(0, "workflow/scripts")
from pathlib import Path
from ragrelay.base.io.cache_use import note_run
note_run(Path(sys.argv[1]))
print("noted", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Three stores of answers, one of which another study in ``results`` has used, and an index; all are days old."""
    folder = tmp_path / "cache"
    for name in (NEEDED, OTHERS, OLD):
        AnswerStore(folder, name).append([dict.fromkeys(SCHEMA) | {"prompt_id": "p", "seed": 1}], {})
    (folder / "indexes" / INDEX).mkdir(parents=True)
    (folder / "indexes" / INDEX / "part").write_bytes(bytes(1000))
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))
    receipt = tmp_path / "results/other/dl19/generated/lm/shard0.json"
    receipt.parent.mkdir(parents=True)
    receipt.write_text(f'{{"fingerprint": "{OTHERS}"}}', encoding="utf-8")
    return folder


def prune(cache: Path, remove: bool = False, receipts: tuple[str, ...] = ()) -> list[str]:
    return list(prune_cache(cache, cache.parent / "results", Needed("mine", [NEEDED], receipts), remove))


def kept(cache: Path) -> list[str]:
    return [path.name for path in sorted(cache.glob("[!.]*/[!.]*"))]


def test_it_lists_what_nobody_needs_and_removes_it_only_on_demand(cache: Path) -> None:
    size = next((cache / "answers" / OLD).iterdir()).stat().st_size
    lines = prune(cache)
    assert [line.split(":")[0] for line in lines[:-1]] == [f"{cache}/answers/{OLD}", f"{cache}/indexes/{INDEX}"]
    total = f"2 files, {(size + 1000) / 1e6:.1f} MB"
    assert lines[-1] == f"Not needed: {total}. To remove them, add --config prune=remove."
    assert kept(cache) == [NEEDED, OTHERS, OLD, INDEX] and not (cache / FOLDER).exists()
    assert prune(cache, remove=True)[-1] == f"Removed: {total}."
    assert kept(cache) == [NEEDED, OTHERS]
    assert all(len(AnswerStore(cache, name).look_up(KEYS)) == 1 for name in (NEEDED, OTHERS))


def test_what_has_changed_within_a_day_stays(cache: Path) -> None:
    [part] = (cache / "answers" / OLD).iterdir()
    os.utime(part, (time.time() - RECENT + 100,) * 2)
    assert "changed less than a day ago, kept" in prune(cache, remove=True)[0]
    assert kept(cache) == [NEEDED, OTHERS, OLD]


def test_a_study_that_has_not_finished_does_not_say_what_it_needs(cache: Path) -> None:
    with pytest.raises(InputError, match=r"target cache_prune: found no absent\.json; expected a finished study"):
        prune(cache, receipts=("absent.json",))


@pytest.mark.parametrize("receipt", ["asked/write_nuggets/lm/shard0.json", "nuggets/vital/written/shard0.json"])
def test_answers_stay_where_another_study_has_lists_of_nuggets_whose_stores_no_file_names(
    cache: Path, receipt: str
) -> None:
    """The other study may be of version 0.1.0, whose receipts are elsewhere."""
    for study, left in (("mine", [NEEDED, OTHERS]), ("other", [NEEDED, OTHERS, OLD])):
        copy = Path(shutil.copytree(cache.parent, cache.parent.parent / f"{cache.parent.name}-{study}")) / "cache"
        written = copy.parent / "results" / study / "dl19" / receipt
        written.parent.mkdir(parents=True)
        written.touch()
        assert any("other has nugget lists" in line for line in prune(copy, remove=True)) == (study == "other")
        assert kept(copy) == left


def test_nothing_is_removed_under_a_run_of_another_study(cache: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", HOLD, cache], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert run.stdout and run.stdout.readline() == "noted\n"
    try:
        with pytest.raises(
            InputError, match=rf"found a cache in use by process {run.pid} on .*; expected a cache that no run"
        ):
            prune(cache, remove=True)
        assert kept(cache) == [NEEDED, OTHERS, OLD, INDEX]
        run.send_signal(signal.SIGKILL)
        run.wait()
        prune(cache, remove=True)
    finally:
        run.kill()
        run.communicate()
    assert kept(cache) == [NEEDED, OTHERS]


def test_nothing_is_removed_while_a_job_without_its_run_writes(cache: Path) -> None:
    """A cluster may still have jobs of a killed run: they go on, or have left half a part."""
    with in_use(cache):
        with pytest.raises(InputError, match="found a cache in use by process "):
            prune(cache, remove=True)
        assert kept(cache) == [NEEDED, OTHERS, OLD, INDEX]
    half = cache_use.temporary_beside(cache / "answers" / NEEDED / "part")
    half.write_text("half", encoding="utf-8")
    with pytest.raises(InputError, match="found a cache in use by "):
        prune(cache, remove=True)
    assert kept(cache) == [NEEDED, OTHERS, OLD, INDEX]
    half.unlink()
    prune(cache, remove=True)
    assert kept(cache) == [NEEDED, OTHERS]


def test_no_run_begins_during_a_removal(cache: Path) -> None:
    removal = Use(cache, REMOVAL)
    removal.note()
    try:
        with pytest.raises(InputError, match=r"found a cache from which process .* is removing files"):
            note_run(cache)
    finally:
        removal.end()
    assert not list((cache / FOLDER).iterdir()), "the run that was refused has left"


def test_a_run_of_another_node_counts_for_ten_minutes_after_its_last_sign_of_life(cache: Path) -> None:
    other, own = Use(cache, RUN), Use(cache, REMOVAL)
    other.note()
    own.note()
    try:
        assert len(own.others(RUN)) == 1
        os.utime(other.path, (time.time() - cache_use.DEAD_AFTER - 60,) * 2)
        assert own.others(RUN) == []
    finally:
        other.end()
        own.end()


def test_killed_half_way_every_store_is_whole_or_gone(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(path: Path, **options: bool) -> None:
        next(path.iterdir()).unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "rmtree", killed)
        prune(cache, remove=True)
    assert kept(cache) == [NEEDED, OTHERS, INDEX]
    assert (cache / "indexes" / INDEX / "part").stat().st_size == 1000
    assert not list((cache / FOLDER).iterdir())
