"""Components of variance: a published example, statsmodels' mixed model, and what has no answer."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.variance import SCHEMA, decompose_variance
from scipy import stats

# Shrout and Fleiss 1979, Psychological Bulletin 86, table 2: six targets, four judges.
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def scores(path: Path, rows: list[list[float]], ordering: str = "descending", k: int = 1) -> Path:
    """A scores file with ``rows``: per query its scores, one per seed."""
    records = [(f"q{q}", seed, float(f1)) for q, values in enumerate(rows) for seed, f1 in enumerate(values)]
    frame = pl.DataFrame(records, schema=["qid", "seed", "f1"], orient="row")
    cell = {"ordering": pl.lit(ordering), "k": pl.lit(k, pl.Int64), "references": pl.lit("lenient")}
    frame.sample(fraction=1.0, shuffle=True, seed=0).with_columns(**cell).write_parquet(path)
    return path


def one(path: Path, rows: list[list[float]]) -> dict:
    (row,) = decompose_variance({"bm25": scores(path, rows)}).iter_rows(named=True)
    return row


def test_shrout_and_fleiss(tmp_path: Path) -> None:
    row = one(tmp_path / "s.parquet", SHROUT_FLEISS)
    assert row["variance_seeds"] == pytest.approx(6.26, abs=0.005)
    assert row["variance_queries"] == pytest.approx((11.24 - 6.26) / 4, abs=0.005)
    assert row["reliability_one"] == pytest.approx(0.17, abs=0.005)
    assert row["reliability"] == pytest.approx(0.44, abs=0.005)
    assert row["share_seeds"] == pytest.approx(0.83, abs=0.005)
    assert row["standard_error_seeds"] == pytest.approx(np.sqrt(6.264 / 24), abs=0.001)
    assert (row["n"], row["n_scores"], row["n_seeds"], row["n_single"]) == (6, 24, 4, 0)
    # Spearman-Brown: so many seeds give 0.9, one less does not.
    s, ratio = row["seeds_for_reliable"], row["variance_queries"] / row["variance_seeds"]
    assert s * ratio / (1 + s * ratio) >= 0.9 > (s - 1) * ratio / (1 + (s - 1) * ratio)


def drawn(n: int, seeds: int, query: float, noise: float, seed: int = 0) -> list[list[float]]:
    random = np.random.default_rng(seed)
    return (0.6 + query * random.standard_normal((n, 1)) + noise * random.standard_normal((n, seeds))).tolist()


def test_equal_numbers_of_seeds_give_statsmodels_reml(tmp_path: Path) -> None:
    import statsmodels.api as sm

    rows = drawn(40, 5, 0.12, 0.07)
    row = one(tmp_path / "s.parquet", rows)
    groups = np.repeat(np.arange(40), 5)
    model = sm.MixedLM(np.ravel(rows), np.ones(200), groups).fit(reml=True)
    assert row["variance_seeds"] == pytest.approx(model.scale, rel=1e-3)
    assert row["variance_queries"] == pytest.approx(float(np.ravel(model.cov_re)[0]), rel=1e-3)


def uneven(n: int, query: float, noise: float, seed: int = 0) -> list[list[float]]:
    """1, 2, 3, 4, 5, 1, ... scores of a query."""
    return [values[: 1 + place % 5] for place, values in enumerate(drawn(n, 5, query, noise, seed))]


def test_equal_numbers_of_seeds_give_scipys_f(tmp_path: Path) -> None:
    rows = drawn(30, 3, 0.1, 0.1, 1)
    row = one(tmp_path / "s.parquet", rows)
    ratio = stats.f_oneway(*rows).statistic
    assert row["reliability"] == pytest.approx(1 - 1 / ratio)
    assert row["low"] == pytest.approx(1 - stats.f.ppf(0.975, 29, 60) / ratio)


def test_unequal_numbers_of_seeds_give_statsmodels_reml(tmp_path: Path) -> None:
    import statsmodels.api as sm

    rows = uneven(40, 0.12, 0.07)
    row = one(tmp_path / "s.parquet", rows)
    ends = np.concatenate(rows)
    model = sm.MixedLM(ends, np.ones(len(ends)), np.repeat(np.arange(40), list(map(len, rows)))).fit(reml=True)
    assert row["variance_seeds"] == pytest.approx(model.scale, rel=1e-3)
    assert row["variance_queries"] == pytest.approx(float(np.ravel(model.cov_re)[0]), rel=1e-3)
    assert row["n_seeds"] == pytest.approx(1 / np.mean([1 / len(values) for values in rows]))
    assert row["mean_p"] == pytest.approx(np.mean([np.mean(values) for values in rows]))


@pytest.mark.simulation
def test_unequal_numbers_of_seeds_recover_the_truth(tmp_path: Path) -> None:
    """Studies of known components give back the reliability, its interval and the error by seeds."""
    query, noise, n = 0.1, 0.075, 40
    studies = [
        pl.read_parquet(scores(tmp_path / "s.parquet", uneven(n, query, noise, seed), k=seed)) for seed in range(300)
    ]
    pl.concat(studies).write_parquet(tmp_path / "s.parquet")
    found = decompose_variance({"bm25": tmp_path / "s.parquet"}).to_dicts()
    inverse = np.mean([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    truth = query**2 / (query**2 + noise**2 * inverse)
    assert np.mean([row["reliability"] for row in found]) == pytest.approx(truth, abs=0.015)
    assert np.mean([row["variance_queries"] for row in found]) == pytest.approx(query**2, rel=0.05)
    assert np.mean([row["variance_seeds"] for row in found]) == pytest.approx(noise**2, rel=0.05)
    errors = [row["standard_error_seeds"] for row in found]
    assert np.mean(errors) == pytest.approx(noise * np.sqrt(inverse / n), rel=0.02)
    assert 0.91 <= np.mean([row["low"] <= truth <= row["high"] for row in found]) <= 0.99
    assert all(row["low"] <= row["reliability"] <= row["high"] for row in found)


def test_unequal_numbers_of_seeds_at_the_ends(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    quiet = one(path, [[0.5, 0.5], [0.7], [0.9, 0.9]])
    assert (quiet["reliability"], quiet["variance_queries"]) == (1.0, pytest.approx(0.04))
    assert quiet["reason"] == "seeds make no difference"
    alike = one(path, [[0.4, 0.6], [0.5], [0.3, 0.5, 0.7]])
    assert (alike["reliability"], alike["low"]) == (0.0, 0.0)
    assert alike["reason"] == "queries differ no more than seeds do"
    rounded = one(path, [[0.5, 0.5 + 1e-15], [0.7], [0.9, 0.9]])
    assert rounded["low"] == pytest.approx(1.0)


@pytest.mark.simulation
def test_the_interval_of_the_reliability_covers_it(tmp_path: Path) -> None:
    truth, covered = 0.1**2 / (0.1**2 + 0.1**2 / 3), 0
    for seed in range(200):
        row = one(tmp_path / "s.parquet", drawn(36, 3, 0.1, 0.1, seed))
        covered += row["low"] <= truth <= row["high"]
    assert 0.91 <= covered / 200 <= 0.99


def test_what_has_no_answer_says_why(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    single = one(path, [[0.5], [0.7]])
    assert (single["reason"], single["variance_seeds"]) == ("one seed per query", None)
    assert one(path, [[0.5, 0.6]])["reason"] == "fewer than 2 queries"
    greedy = one(path, [[0.5, 0.5], [0.7, 0.7]])
    assert (greedy["reliability"], greedy["seeds_for_reliable"]) == (1.0, 1)
    assert greedy["reason"] == "seeds make no difference"
    alike = one(path, [[0.4, 0.6], [0.6, 0.4], [0.4, 0.6]])
    assert (alike["variance_queries"], alike["reliability"], alike["seeds_for_reliable"]) == (0.0, 0.0, None)
    assert alike["reason"] == "queries differ no more than seeds do"
    assert one(path, [[0.5, 0.5], [0.5, 0.5]])["reason"] == "all scores are equal"
    assert one(path, [[0.5, 0.6], [0.7]])["n_single"] == 1


def test_zero_shot_answers_on_a_retrievers_unseen_references_are_no_cell_of_it(tmp_path: Path) -> None:
    bm25 = scores(tmp_path / "a.parquet", drawn(5, 2, 0.1, 0.1))
    none = scores(tmp_path / "b.parquet", drawn(5, 2, 0.1, 0.1), ordering="none")
    both = tmp_path / "bm25.parquet"
    pl.concat([pl.read_parquet(bm25), pl.read_parquet(none)]).write_parquet(both)
    table = decompose_variance({"zeroshot": none, "bm25": both})
    assert table.select("retriever", "ordering").rows() == [("zeroshot", "none"), ("bm25", "descending")]
    assert table.schema == pl.Schema(SCHEMA)
