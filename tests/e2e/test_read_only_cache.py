"""A study on a shared cache that it may only read."""

from collections.abc import Callable
from pathlib import Path

from tests.support.sandbox import Sandbox

MADE = ("generated/demo-lm/shard0.json", "references/minilm.json", "scores/minilm/demo-lm/bm25.parquet")


def test_what_is_cached_serves_and_nothing_is_written(copied: Callable[[], Sandbox]) -> None:
    """One retriever's results come again from the cache; one more seed ends in one line, before an engine starts."""
    study = copied()
    study.config["cache_mode"] = "read-only"
    study.write_config()
    assert study.planned() == {}, "the mode reruns nothing"
    before, tables = cache_of(study), study.tables()
    made = [study.results / "small" / name for name in MADE]
    for path in made:
        path.unlink()
    study.snakemake(*(str(path.relative_to(study.folder)) for path in made))
    assert study.receipts()["demo-lm/shard0"]["made"] == 0
    assert study.tables() == tables
    study.config["grid"] = {**study.config["grid"], "seeds": [1, 2, 3]}
    study.write_config()
    done = study.snakemake("results/small/small/generated/demo-lm/shard0.json", check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ragrelay: error")]
    assert len(said) == 1
    asked = study.distinct_keys()
    missing = f"found read-only, although {asked // 3} of {asked} answers are not in cache/answers/"
    assert f"config key 'cache_mode': {missing}" in said[0]
    assert "Traceback" not in done.stdout + done.stderr
    assert cache_of(study) == before


def cache_of(study: Sandbox) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (study.folder / "cache").rglob("*")}
