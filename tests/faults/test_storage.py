"""A store that is damaged, shared or out of room, and folders that can't be written."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.support.faulty import ASKED, Attempt, Faulty, attempt
from tests.support.mounts import mounted
from tests.support.sandbox import Sandbox

Copy = Callable[[], Sandbox]


def truncate(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:-100])


def garble(part: Path) -> None:
    content = bytearray(part.read_bytes())
    content[len(content) // 3] ^= 0xFF
    part.write_bytes(content)


@pytest.mark.parametrize("damage", [truncate, pytest.param(garble, marks=pytest.mark.full)])
def test_damaged_part(copied: Copy, finished: Sandbox, damage: Callable[[Path], None]) -> None:
    """Its answers alone are made again; the log names the part."""
    faulty = Faulty(copied(), finished, flush_seconds=1)
    faulty.fill(parts=4)
    part = faulty.parts()[1]
    rows = pl.read_parquet(part, columns=["prompt_id"]).height
    assert 0 < rows < ASKED
    damage(part)
    faulty.study.snakemake(faulty.target)
    assert attempt(faulty.log) == Attempt(cached=faulty.others + ASKED - rows, made=rows)
    assert f"{part.name}: damaged part" in faulty.log.read_text()
    assert faulty.study.tables() == finished.tables()


@pytest.mark.full
def test_two_workflows_share_a_store(copied: Copy, finished: Sandbox, tmp_path: Path) -> None:
    """Two runs that start together have the same whole cells, whichever of them made an answer."""
    faulty = Faulty(copied(), finished)
    first = faulty.study
    second = first.copied_to(tmp_path / "second")
    shutil.rmtree(second.folder / "cache/answers")
    second.config["cache_dir"] = str(first.folder / "cache")
    second.write_config()
    drivers = [study.start(faulty.target) for study in (first, second)]
    assert [driver.wait(timeout=900) for driver in drivers] == [0, 0]
    assert first.contents() == second.contents() == faulty.undisturbed
    assert not (second.folder / "cache/answers").exists()
    made = [study.receipts()["demo-lm/shard0"]["made"] for study in (first, second)]
    assert sum(made) + faulty.others == len(faulty.keys()) >= faulty.others + ASKED


@pytest.mark.full
def test_full_disk(copied: Copy, finished: Sandbox) -> None:
    """Where there is no room for more parts, the message says so; with room, the rest is made."""
    faulty = Faulty(copied(), finished)
    aside = faulty.store.rename(faulty.store.with_name("aside"))
    size = sum(path.stat().st_size for path in aside.rglob("*.parquet")) // 1024 + 100
    faulty.store.mkdir()
    with mounted(faulty.store, "-t", "tmpfs", "-o", f"size={size}k", "tmpfs"):
        shutil.copytree(aside, faulty.store, dirs_exist_ok=True)
        shutil.rmtree(aside)
        done = faulty.study.snakemake(faulty.target, check=False)
        assert done.returncode != 0
        assert "No space left on device; free some space there" in done.stdout + done.stderr
        assert 0 < len(faulty.keys()) - faulty.others < ASKED
        faulty.keep_log()
        subprocess.run(["mount", "-o", "remount,size=100m", str(faulty.store)], check=True)
        faulty.check_recovery()


@pytest.mark.full
def test_read_only_results(copied: Copy, finished: Sandbox) -> None:
    """Nothing is generated for results that could not be written; once they can, all is made."""
    faulty = Faulty(copied(), finished)
    results = faulty.study.folder / "results"
    with mounted(results, "--bind", str(results)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(results)], check=True)
        done = faulty.study.snakemake(faulty.target, check=False)
        assert done.returncode != 0
        assert "Read-only file system" in done.stdout + done.stderr
        assert len(faulty.keys()) == faulty.others
    faulty.check_recovery()


@pytest.mark.full
def test_engine_without_memory(copied: Copy, finished: Sandbox) -> None:
    """If an engine dies at its start, one line names the key to change, and the store is as it was."""
    faulty = Faulty(copied(), finished, cpu_kvcache_gib=1_000_000)
    done = faulty.study.snakemake(faulty.target, check=False)
    assert done.returncode != 0
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ragrelay: error: engine")]
    assert lines
    assert "found a failed start" in lines[0]
    assert "cpu_kvcache_gib" in lines[0]
    assert len(faulty.keys()) == faulty.others
    faulty.study.config["generators"]["demo-lm"]["cpu_kvcache_gib"] = 1
    faulty.study.write_config()
    faulty.check_recovery()
