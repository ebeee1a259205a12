"""What a recheck sums up to, against the formulas by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.equivalence import words_of
from ragrelay.annexes.recheck.scores import score_recheck
from ragrelay.annexes.recheck.summary import COLUMNS, changes, equality, table
from ragrelay.base.vocabulary.columns import schema_of

Z = 1.959964


def answers(equal: list[bool], until: list[int | None]) -> pl.DataFrame:
    return pl.DataFrame({"equal": equal, "same_until": until}, schema_overrides={"same_until": pl.Int64}).with_columns(
        unit=pl.lit("tokens"), equal_here=pl.lit(None, pl.Boolean)
    )


@pytest.mark.parametrize(("equal", "n"), [(0, 5), (3, 8), (20, 20), (1, 1)])
def test_the_share_has_wilsons_interval(equal: int, n: int) -> None:
    """The roots of (share - p)² = z² p (1 - p) / n."""
    row = equality(answers([place < equal for place in range(n)], [None] * n))
    share = equal / n
    middle, reach = (share + Z**2 / 2 / n), Z * np.sqrt(share * (1 - share) / n + Z**2 / 4 / n**2)
    ends = [(middle - reach) / (1 + Z**2 / n), (middle + reach) / (1 + Z**2 / n)]
    assert [row["equal_low"], row["equal_high"]] == pytest.approx(ends, abs=1e-6)
    assert (row["n"], row["n_equal"], row["equal"]) == (n, equal, share)


def test_the_median_is_of_texts_that_differ() -> None:
    row = equality(answers([True, False, False, False, False], [None, 3, 10, 0, None]))
    assert row["median_until"] == 3.0 and row["unit"] == "tokens"
    assert equality(answers([True], [None]))["median_until"] is None


@pytest.mark.parametrize(("here", "number"), [([True, False, True], 2), ([True] * 3, 3), ([None] * 3, None)])
def test_what_was_made_twice_is_counted(here: list[bool | None], number: int | None) -> None:
    made = answers([False] * 3, [1, 2, 3]).with_columns(pl.Series("equal_here", here, dtype=pl.Boolean))
    assert equality(made)["n_equal_here"] == number


def scores(pairs: list[tuple[str, float | None, float | None]]) -> pl.DataFrame:
    frame = pl.DataFrame(pairs, schema={"qid": pl.String, "then": pl.Float64, "now": pl.Float64}, orient="row")
    return frame.with_columns(references=pl.lit("lenient"))


def test_a_score_flips_if_it_changes_by_more_than_the_margin() -> None:
    pairs = [("a", 0.5, 0.53), ("a", 0.5, 0.49), ("b", 0.5, 0.2), ("b", 0.0, None), ("c", None, 0.1), ("c", None, None)]
    row = changes(scores([*pairs]), 0.02)
    assert (row["n_scored"], row["n_flips"], row["n_unpaired"], row["n_queries"]) == (3, 2, 2, 2)
    two_values = changes(scores([("a", 0.0, 1.0), ("a", 1.0, 1.0), ("b", 1.0, 0.0), ("b", 0.0, 0.0)]), 0.02)
    assert (two_values["n_flips"], two_values["mean_difference"]) == (2, 0.0)


def test_the_mean_is_over_queries() -> None:
    """And so is its interval: that of verdicts, of differences averaged within queries first."""
    generator = np.random.default_rng(3)
    pairs = [(f"q{query}", 0.5, 0.5 + change) for query in range(20)
             for change in generator.normal(-0.1, 0.05, size=1 + query % 3)]  # fmt: skip
    row = changes(scores(pairs), 0.02)
    means = np.array([np.mean([now - then for name, then, now in pairs if name == f"q{query}"]) for query in range(20)])
    (word,) = words_of([means], 0.02)
    assert row["mean_difference"] == pytest.approx(means.mean())
    assert [row["low"], row["high"]] == pytest.approx([word["verdict_low"], word["verdict_high"]])
    assert row["verdict"] == word["verdict"] == "worse by more than the margin"
    assert row["p_now"] - row["p_then"] == pytest.approx(means.mean())
    of_clusters = changes(scores(pairs), 0.02, {f"q{query}": query // 2 for query in range(20)})
    assert of_clusters["mean_difference"] == row["mean_difference"] and of_clusters["low"] != row["low"]


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_an_interval_of_scores_from_0_to_1_ends_there(scale: float) -> None:
    pairs = [("a", 0.9, 0.0), ("b", 1.0, 0.1), ("c", 0.95, 0.0), ("d", 0.9, 0.05), ("e", 0.1, 0.9)]
    row = changes(scores([(qid, scale * then, scale * now) for qid, then, now in pairs]), 0.02)
    assert (row["low"] == -1.0) if scale == 1.0 else (row["low"] < -scale)


def test_exactly_nothing_where_nothing_changed() -> None:
    row = changes(scores([(f"q{query}", 0.1 * query, 0.1 * query) for query in range(9)]), 0.02)
    assert row["mean_difference"] == 0.0 and row["n_flips"] == 0
    assert row["reason"] == "all differences are equal" and "verdict" not in row


@pytest.mark.parametrize("pairs", [[], [("a", None, None)], [("a", None, 0.5)]])
def test_without_a_pair_of_scores(pairs: list[tuple[str, float | None, float | None]]) -> None:
    row = changes(scores(pairs), 0.02)
    assert row["n_scored"] == 0 and row["mean_difference"] is None and row["reason"] == "fewer than 5 queries"


def test_rows_of_the_table_have_all_columns() -> None:
    part: dict[str, Any] = {"dataset": "d", "generator": "g", "n_stored": 9, **equality(answers([True], [None]))}
    rows = table([part, {**part, "scorer": "s", **changes(scores([("a", 0.1, 0.2)]), 0.02)}])
    assert dict(rows.schema) == schema_of(COLUMNS) and rows["scorer"].to_list() == [None, "s"]
    assert table([]).is_empty()


def test_scores_of_both_sides(tmp_path: Any) -> None:
    """Of the first grade, the best reference; null where an answer is missing or the query has no reference."""
    passages = {"qid": ["a", "a", "a"], "docno": ["1", "2", "3"], "label": [1, 2, 2],
                "text": ["one two", "three four", "five"]}  # fmt: skip
    pl.DataFrame(passages).write_parquet(tmp_path / "references.parquet")
    rows = pl.DataFrame(
        {
            "qid": ["b", "a", "a", "a"],
            "prompt_id": ["p3", "p0", "p1", "p2"],
            "seed": [1, 1, 1, 1],
            "answer_then": ["one two", "three four", "one two", None],
            "answer_now": ["one two", "three", "one two", ""],
        }
    )
    scorer = {"kind": "token_f1", "references": "judged"}
    found = score_recheck(
        rows, tmp_path / "references.parquet", {"strict": 2, "lenient": 1}, scorer, tmp_path / "cache"
    )
    assert found["prompt_id"].to_list() == ["p3", "p0", "p1", "p2"] and set(found["references"]) == {"strict"}
    assert found["then"].to_list() == [None, 1.0, 0.0, None]
    assert found["now"].to_list() == [None, pytest.approx(2 / 3), 0.0, 0.0]
    assert not (tmp_path / "cache").exists(), "the store of scores is not touched"
