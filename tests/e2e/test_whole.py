"""Whole studies that are long and rarely break: `make faults`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.test_scorers import SCORERS
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.full


def test_a_second_run_from_nothing_in_shards_gives_the_same_tables(finished: Sandbox, tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "twin")
    study.config["datasets"]["small"]["shards"] = 2
    study.write_config()
    study.snakemake()
    receipts = study.receipts()
    assert sum(receipt["made"] for receipt in receipts.values()) > 0
    assert receipts["demo-lm/shard0"]["asked"] + receipts["demo-lm/shard1"]["asked"] == study.distinct_keys()
    assert study.tables() == finished.tables()


def test_scorers_of_all_kinds_in_one_report(copied: Callable[[], Sandbox]) -> None:
    study = copied()
    made = {path: path.stat().st_mtime_ns for path in (study.folder / "cache/answers").rglob("*.parquet")}
    study.config["grid"] = {**study.config["grid"], "retrievers": ["bm25", "rel"], "scorers": SCORERS}
    study.write_config()
    study.snakemake()
    assert {path: path.stat().st_mtime_ns for path in (study.folder / "cache/answers").rglob("*.parquet")} == made
    for scorer in SCORERS:
        assert (study.results / f"report/tables/table1_small_demo-lm_{scorer}.csv").stat().st_size > 0
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "gold references" in page and "gold-unseen" not in page
