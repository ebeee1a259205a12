"""Reliability of utility: two halves of the seeds drawn anew agree as often as it says; whose P_0 is taken."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.variance import utility_reliability

pytestmark = pytest.mark.simulation


def scores(path: Path, cells: dict[tuple[str, int, str], np.ndarray]) -> Path:
    """A scores file of (queries, seeds) by ordering, k and references."""
    frames = [
        pl.DataFrame({"qid": f"q{query:04d}", "seed": np.arange(values.shape[1]), "f1": values[query]})
        .with_columns(pl.col("f1").fill_nan(None))
        .with_columns(ordering=pl.lit(ordering), k=pl.lit(k, pl.Int64), references=pl.lit(references))
        for (ordering, k, references), values in cells.items()
        for query in range(len(values))
    ]
    pl.concat(frames).write_parquet(path)
    return path


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("mode", ["relative", "absolute"])
def test_it_is_the_correlation_with_a_replication(mode: str, missing: bool, tmp_path: Path) -> None:
    """By definition, reliability is the correlation of a measurement with one made anew of the same queries."""
    random, n, seeds = np.random.default_rng(0), 1500, 4
    true_p, true_p0 = random.uniform(0.4, 0.9, (n, 1)), random.uniform(0.4, 0.8, (n, 1))

    def measured(true: np.ndarray) -> np.ndarray:
        # Noise of one seed must be small for derivatives to carry it into a ratio.
        scores = true + random.normal(0, 0.06 if missing else 0.12, (n, seeds))
        if missing:
            # Two thirds of the queries have one seed, or two.
            scores[np.arange(n) % 3 == 0, 1:] = np.nan
            scores[np.arange(n) % 3 == 1, 2:] = np.nan
        return scores

    def utility(p: np.ndarray, p0: np.ndarray) -> np.ndarray:
        p, p0 = np.nanmean(p, axis=1), np.nanmean(p0, axis=1)
        return (p - p0) / p0 if mode == "relative" else p - p0

    first, second = ((measured(true_p), measured(true_p0)) for _ in range(2))
    files = {
        "zeroshot": scores(tmp_path / "z.parquet", {("none", 0, "lenient"): first[1]}),
        "bm25": scores(tmp_path / "b.parquet", {("descending", 2, "lenient"): first[0]}),
    }
    row = utility_reliability(files, mode).row(0, named=True)
    assert row["retriever"] == "bm25"
    assert row["reliability_utility"] == pytest.approx(np.corrcoef(utility(*first), utility(*second))[0, 1], abs=0.04)


def test_unseen_references_take_their_own_p0_and_one_seed_says_nothing(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    quiet, noisy = np.repeat(random.uniform(0.4, 0.8, (20, 1)), 3, axis=1), random.uniform(0.3, 0.9, (20, 3))
    p = np.repeat(random.uniform(0.4, 0.8, (20, 1)), 3, axis=1)
    files = {
        "zeroshot": scores(
            tmp_path / "z.parquet", {("none", 0, "lenient"): quiet, ("none", 0, "lenient-unseen"): noisy}
        ),
        "bm25": scores(
            tmp_path / "b.parquet",
            {
                ("descending", 1, "lenient"): p,
                ("descending", 1, "lenient-unseen"): p,
                ("none", 1, "lenient-unseen"): quiet,
            },
        ),
        "dense": scores(tmp_path / "d.parquet", {("descending", 1, "lenient"): p[:, :1]}),
    }
    found = {row[:-1]: row[-1] for row in utility_reliability(files, "relative").iter_rows()}
    assert found["bm25", "descending", 1, "lenient"] == 1.0
    assert found["bm25", "descending", 1, "lenient-unseen"] == 1.0
    assert found.get(("dense", "descending", 1, "lenient")) is None
