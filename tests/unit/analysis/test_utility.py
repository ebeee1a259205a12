"""P, P_0 and U from scores files, against hand computation."""

from pathlib import Path

import polars as pl
import pytest
from ragrelay.analysis.utility import SCHEMA, compute_utility, write_utility
from ragrelay.base.errors import InputError


def scores(rows: list[tuple], path: Path) -> Path:
    """Write (qid, ordering, k, seed, references, f1, best_in_context, n_references) as a scores file."""
    names = ["qid", "ordering", "k", "seed", "references", "f1", "best_in_context", "n_references"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    more = {"best_docno": pl.lit("d1"), "n_near_copies": pl.when(pl.col("references").str.ends_with("unseen")).then(1)}
    frame.with_columns(precision="f1", recall="f1", **more).write_parquet(path)
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    zeroshot = [
        ("q1", "none", 0, 1, "lenient", 0.4, False, 3),
        ("q1", "none", 0, 2, "lenient", 0.6, False, 3),
        ("q2", "none", 0, 1, "lenient", 0.0, False, 2),
        ("q2", "none", 0, 2, "lenient", 0.0, False, 2),
        ("q3", "none", 0, 1, "lenient", 0.5, False, 1),
        ("q1", "none", 0, 1, "strict", 0.2, False, 1),
    ]
    bm25 = [
        ("q2", "descending", 2, 2, "lenient", 0.3, False, 2),
        ("q1", "descending", 2, 2, "lenient", 0.8, True, 3),
        ("q1", "descending", 2, 1, "lenient", 0.7, False, 3),
        ("q2", "descending", 2, 1, "lenient", 0.1, True, 2),
        ("q9", "descending", 2, 1, "lenient", 0.1, True, 2),
        ("q1", "descending", 2, 1, "lenient-unseen", 0.45, False, 2),
        ("q1", "descending", 5, 1, "lenient-unseen", 0.36, False, 1),
        ("q1", "ascending", 2, 1, "lenient-unseen", 0.15, False, 2),
        ("q1", "none", 2, 1, "lenient-unseen", 0.2, False, 2),
        ("q1", "none", 2, 2, "lenient-unseen", 0.4, False, 2),
        ("q1", "none", 5, 1, "lenient-unseen", 0.12, False, 1),
    ]
    return {
        "zeroshot": scores(zeroshot, tmp_path / "zeroshot.parquet"),
        "bm25": scores(bm25, tmp_path / "bm25.parquet"),
    }


def row(table: pl.DataFrame, ordering: str, k: int, references: str, qid: str) -> dict:
    chosen = table.filter(ordering=ordering, k=k, references=references, qid=qid)
    assert chosen.height == 1
    return chosen.row(0, named=True)


def test_relative_utility_by_hand(files: dict[str, Path]) -> None:
    _, table = compute_utility(files, "relative")
    q1 = row(table, "descending", 2, "lenient", "q1")
    assert q1["p"] == pytest.approx(0.75)
    assert q1["p0"] == pytest.approx(0.5)
    assert q1["utility"] == pytest.approx(0.5)
    assert q1["best_in_context"] == 0.5
    assert (q1["n_references"], q1["n_seeds"]) == (3, 2)
    assert q1["retriever"] == "bm25"


def test_absolute_utility_by_hand(files: dict[str, Path]) -> None:
    _, table = compute_utility(files, "absolute")
    assert row(table, "descending", 2, "lenient", "q1")["utility"] == pytest.approx(0.25)
    assert row(table, "descending", 2, "lenient", "q2")["utility"] == pytest.approx(0.2)


def test_relative_utility_is_null_without_a_positive_baseline(files: dict[str, Path]) -> None:
    _, table = compute_utility(files, "relative")
    q2 = row(table, "descending", 2, "lenient", "q2")
    assert (q2["p"], q2["p0"], q2["utility"]) == (pytest.approx(0.2), 0.0, None)


def test_no_query_is_lost_where_one_side_is_missing(files: dict[str, Path]) -> None:
    _, table = compute_utility(files, "absolute")
    no_answer = row(table, "descending", 2, "lenient", "q3")
    assert (no_answer["p"], no_answer["p0"], no_answer["utility"]) == (None, 0.5, None)
    assert (no_answer["n_references"], no_answer["n_seeds"]) == (1, 0)
    no_baseline = row(table, "descending", 2, "lenient", "q9")
    assert (no_baseline["p"], no_baseline["p0"], no_baseline["utility"]) == (0.1, None, None)


def test_unseen_baseline_is_the_retrievers_own_at_the_same_k(files: dict[str, Path]) -> None:
    _, table = compute_utility(files, "relative")
    assert row(table, "descending", 2, "lenient-unseen", "q1")["p0"] == pytest.approx(0.3)
    assert row(table, "descending", 2, "lenient-unseen", "q1")["utility"] == pytest.approx(0.5)
    assert row(table, "ascending", 2, "lenient-unseen", "q1")["utility"] == pytest.approx(-0.5)
    assert row(table, "descending", 5, "lenient-unseen", "q1")["utility"] == pytest.approx(2.0)
    assert row(table, "descending", 5, "lenient-unseen", "q1")["n_near_copies"] == 1
    assert row(table, "descending", 2, "lenient", "q1")["n_near_copies"] is None
    assert "none" not in table["ordering"]


def test_a_query_without_results_keeps_its_zeroshot_answer_where_it_counts(files: dict[str, Path]) -> None:
    _, table = compute_utility(files, "relative", counted=["bm25"])
    for ordering, k, references in table.select("ordering", "k", "references").unique().rows():
        q3 = row(table, ordering, k, references, "q3")
        assert (q3["p"], q3["p0"], q3["utility"]) == (0.5, 0.5, 0.0)
        assert (q3["n_seeds"], q3["best_in_context"], q3["without_results"]) == (0, 0.0, True)
    _, left_out = compute_utility(files, "relative", counted=["dense"])
    assert table.filter(pl.col("qid") != "q3").equals(left_out.filter(pl.col("qid") != "q3"))
    assert left_out["without_results"].is_null().all()


def test_zeroshot_rows_are_their_own_baseline(files: dict[str, Path]) -> None:
    table, _ = compute_utility(files, "relative")
    assert table.columns == list(SCHEMA)
    assert set(table.select("retriever", "ordering", "k").rows()) == {("zeroshot", "none", 0)}
    q1 = row(table, "none", 0, "lenient", "q1")
    assert (q1["p"], q1["p0"], q1["utility"]) == (pytest.approx(0.5), pytest.approx(0.5), None)
    assert table.height == 4


def test_row_order_of_the_scores_does_not_change_a_byte(files: dict[str, Path], tmp_path: Path) -> None:
    rows = [
        (f"q{query}", "descending", 1, seed, "lenient", 0.1 * seed + 0.017 * query, bool(seed % 2), 4)
        for query in range(200)
        for seed in range(7)
    ]
    written = []
    for name, order in (("forward", rows), ("backward", rows[::-1])):
        path = tmp_path / f"{name}.utility.parquet"
        retriever = scores(order, tmp_path / f"{name}.parquet")
        write_utility(compute_utility({"zeroshot": files["zeroshot"], "bm25": retriever}, "relative"), path)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert pl.read_parquet(tmp_path / "forward.utility.parquet").schema == pl.Schema(SCHEMA)


def test_a_seed_scored_twice_is_an_error(files: dict[str, Path], tmp_path: Path) -> None:
    twice = [("q1", "descending", 1, 3, "lenient", 0.5, True, 1)] * 2
    files["dense"] = scores(twice, tmp_path / "dense.parquet")
    with pytest.raises(InputError, match=r"dense\.parquet.*qid q1"):
        list(compute_utility(files, "relative"))


def test_mode_and_zeroshot_are_checked(files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="percent"):
        list(compute_utility(files, "percent"))
    with pytest.raises(InputError, match="zeroshot"):
        list(compute_utility({"bm25": files["bm25"]}, "relative"))
