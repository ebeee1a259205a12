"""Reciprocal rank fusion: the formula, and pyterrier-alpha's implementation of it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask
from ragrelay.retrieval.trec import RUN, ranked, write_run

QUERIES = pl.DataFrame({"qid": ["q1", "q2", "q3"], "query": ["one", "two", "three"]})
ONE = [("q1", "a", 9.0), ("q1", "b", 8.0), ("q1", "c", 8.0), ("q2", "a", 1.0)]
TWO = [("q1", "b", 0.9), ("q1", "d", 0.8), ("q1", "a", 0.1), ("q3", "e", 0.5)]
FUSION = {"kind": "fusion", "retrievers": ["one", "two"], "rank_constant": 60, "depth": 1000}


def run_of(rows: list[tuple[str, str, float]]) -> pl.DataFrame:
    return ranked(pl.DataFrame(rows, schema=RUN, orient="row"), QUERIES)


def fusion_run(runs: list[pl.DataFrame], definition: dict[str, Any]) -> pl.DataFrame:
    return RETRIEVER_KINDS.of(definition).run(RunTask(QUERIES, pl.DataFrame(), None, runs=runs))  # type: ignore[arg-type]


def scores(run: pl.DataFrame) -> dict[tuple[str, str], float]:
    return {(qid, docno): score for qid, docno, score in run.select("qid", "docno", "score").iter_rows()}


def test_formula() -> None:
    """Cormack et al. sum 1 / (60 + rank); ranks begin at 1, in trec_eval's order (c before b, which tie)."""
    expected = {
        ("q1", "a"): 1 / 61 + 1 / 63, ("q1", "b"): 1 / 63 + 1 / 61, ("q1", "c"): 1 / 62, ("q1", "d"): 1 / 62,
        ("q2", "a"): 1 / 61, ("q3", "e"): 1 / 61,
    }  # fmt: skip
    assert scores(fusion_run([run_of(ONE), run_of(TWO)], FUSION)) == pytest.approx(expected, rel=1e-12)


def test_as_pyterrier_alpha_has_it() -> None:
    """Its ranks begin at 0, so that its k is one more than the paper's constant."""
    from pyterrier_alpha.fusion import rr_fusion

    runs = [run_of(ONE), run_of(TWO), run_of(TWO[::-1] + ONE[3:])]
    frames = [
        run.join(QUERIES, on="qid").with_columns(score=-pl.col("rank").cast(pl.Float64), rank=pl.col("rank") - 1)
        for run in runs
    ]
    found = rr_fusion(*[frame.to_pandas() for frame in frames], k=11)
    expected = scores(pl.from_pandas(found[["qid", "docno", "score"]]))
    assert scores(fusion_run(runs, {**FUSION, "rank_constant": 10})) == pytest.approx(expected, rel=1e-12)


def test_depth_is_of_parts_and_whole(tmp_path: Path) -> None:
    paths = [tmp_path / "one.run.gz", tmp_path / "two.run.gz"]
    for path, rows in zip(paths, (ONE, TWO), strict=True):
        write_run(run_of(rows), path, tag="x")
    empty = pl.DataFrame()
    found = build_run(None, QUERIES, empty, {**FUSION, "depth": 2}, runs=paths)  # type: ignore[arg-type]
    assert found.filter(qid="q1")["docno"].to_list() == ["b", "a"][: found.filter(qid="q1").height]
    assert found.group_by("qid").len()["len"].max() == 2
    whole = build_run(None, QUERIES, empty, FUSION, runs=paths)  # type: ignore[arg-type]
    assert whole["qid"].unique(maintain_order=True).to_list() == ["q1", "q2", "q3"]
    assert set(whole.filter(qid="q1")["docno"]) == {"a", "b", "c", "d"}
