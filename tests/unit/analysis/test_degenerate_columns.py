"""Pooled datasets and splits by context use, of scores that do not vary, or are few or missing."""

from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from ragrelay.analysis.context_use_split import split_utility
from ragrelay.analysis.pooled import Sample, pool_samples
from ragrelay.analysis.utility import compute_utility, write_utility
from ragrelay.analysis.variance import utility_reliability

from tests.support.degenerate_study import GRID, PATTERNS, degenerate, shape
from tests.support.measured_study import Measured

pytestmark = pytest.mark.filterwarnings("error")
RANKINGS = ["bm25", "dense"]


class Files(NamedTuple):
    measured: Measured
    scores: dict[str, Path]
    retrieval: dict[str, Path]
    utility: Path


@pytest.fixture(params=[(pattern, n) for pattern in PATTERNS for n in (1, 16)], ids=str)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    pattern, n = request.param
    return written(degenerate(shape("bertscore" if n == 1 else "exact_match"), pattern, n), tmp_path)


def written(measured: Measured, folder: Path) -> Files:
    paths: dict[str, dict[str, Path]] = {"scores": {}, "retrieval": {}}
    for part, files in paths.items():
        for name in ("zeroshot", *GRID["retrievers"])[part == "retrieval" :]:
            files[name] = folder / f"{part}-{name}.parquet"
            getattr(measured, part).filter(retriever=name).drop("retriever").write_parquet(files[name])
    write_utility(compute_utility(paths["scores"], measured.mode), folder / "utility.parquet")
    return Files(measured, paths["scores"], paths["retrieval"], folder / "utility.parquet")


def finite(table: pl.DataFrame) -> bool:
    return all(table[name].drop_nulls().is_finite().all() for name in table.columns if table[name].dtype.is_float())


def test_datasets_and_generators_together(files: Files) -> None:
    utility = pl.read_parquet(files.utility)
    measured, contexts = files.measured, files.measured.contexts.filter(pl.col("k") > 0)
    for generators in (("one",), ("one", "other")):
        utilities = dict.fromkeys(generators, utility)
        samples = [Sample(str(n), "s", measured.primary, utilities, measured.retrieval, contexts) for n in range(5)]
        pooled = pool_samples(samples, GRID["kinds"], {"s": 0.02})
        assert finite(pooled)
        errors = pooled["error"].drop_nulls()
        assert errors.is_empty() or errors.min() > 1e-12


def test_context_use_and_reliability(files: Files, tmp_path: Path) -> None:
    used = pl.read_parquet(files.utility).with_columns(
        context_use=pl.when(pl.col("p").is_not_null()).then(0.5), text_change=pl.lit(0.1)
    )
    used.write_parquet(tmp_path / "used.parquet")
    assert finite(split_utility(tmp_path / "used.parquet", files.retrieval, "nDCG", 30, 0))
    assert finite(utility_reliability(files.scores, files.measured.mode))
