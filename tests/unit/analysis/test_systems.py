"""Systems: differences of mean P of every pair, by role, against a second computation of words and intervals."""

import itertools

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.equivalence import equivalences
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.systems import EXPLORATORY, NO_LENGTHS, PRIMARY, REFERENCE, SAME_LENGTHS, SCHEMA, systems
from ragrelay.analysis.verdicts import TOO_FEW, of_interval
from ragrelay.base.vocabulary.primary import Primary

from tests.unit.report.second_way import undone

RETRIEVERS = ["bm25", "dense", "mono", "rel"]
MARGIN = 0.02
CELL = {"ordering": "descending", "k": 2, "references": "lenient"}
HERE = Primary("dense", "bm25", *CELL.values(), measure="nDCG", scorer="minilm")


def utility(n: int = 40, seed: int = 0) -> pl.DataFrame:
    """P of RETRIEVERS that rise by .03 each; mono lacks a query, and unseen references are there too."""
    random = np.random.default_rng(seed)
    base, frames = random.uniform(0.3, 0.6, n), []
    for place, name in enumerate(RETRIEVERS):
        for references in ("lenient", "lenient-unseen"):
            p = base + 0.03 * place + random.normal(0, 0.05, n)
            if name == "mono":
                p[3] = np.nan
            frames.append(
                pl.DataFrame({"qid": [f"q{one}" for one in range(n)], "p": p}).with_columns(
                    retriever=pl.lit(name), ordering=pl.lit("descending"), k=pl.lit(2, pl.Int64),
                    references=pl.lit(references),
                )
            )  # fmt: skip
    return pl.concat(frames)


def found(table: pl.DataFrame, role: str) -> set[tuple[str, str]]:
    return set(table.filter(role=role).select("retriever", "against_retriever").iter_rows())


def test_every_pair_has_one_role_and_the_interval_of_its_family() -> None:
    cells = utility()
    table = systems(cells, RETRIEVERS, "rel", HERE, MARGIN)
    assert found(table, PRIMARY) == {("dense", "bm25")}
    assert found(table, REFERENCE) == {("bm25", "rel"), ("dense", "rel"), ("mono", "rel")}
    assert found(table, EXPLORATORY) == {("mono", "bm25"), ("mono", "dense")}
    wide = cells.filter(references="lenient").pivot(on="retriever", index="qid", values="p")
    for row in table.iter_rows(named=True):
        size = {PRIMARY: 1, REFERENCE: 3, EXPLORATORY: 2}[row["role"]]
        difference = (wide[row["retriever"]] - wide[row["against_retriever"]]).to_numpy()
        difference = difference[np.isfinite(difference)]
        (low,), (high,) = Means.cautious(difference[:, None]).interval(1 - 0.05 / size)
        assert (row["low"], row["high"]) == pytest.approx((low, high))
        assert row["verdict"] == of_interval(low, high, MARGIN)
        fallen = undone(difference, row["verdict"], 1 - 0.05 / size, MARGIN)
        assert row["stands"] is (None if fallen is None else not fallen)
        assert (row["family_size"], row["n"]) == (size, len(difference))
        assert row["n_unpaired"] == 40 - len(difference) == ("mono" in (row["retriever"], row["against_retriever"]))
        assert (row["p_bonferroni"] < 0.05) == (low > 0 or high < 0)
    assert dict(table.schema) == dict(SCHEMA)


def test_the_words_are_those_of_equivalence() -> None:
    """A primary pair that has the reference retriever too is tested alone in both tables."""
    for primary in (None, HERE, HERE._replace(reference="rel"), HERE._replace(retriever="rel", reference="mono")):
        pairs = systems(utility(), RETRIEVERS, "rel", primary, MARGIN).filter(
            (pl.col("against_retriever") == "rel") & (pl.col("role") != EXPLORATORY)
        )
        others = equivalences(utility(), "rel", MARGIN, primary)
        both = pairs.join(others, on=["retriever", "ordering", "k", "references"], suffix="_other")
        assert both.height == pairs.height >= 2
        assert both["verdict"].to_list() == both["verdict_other"].to_list()
        for one, other in (("low", "verdict_low"), ("high", "verdict_high"), ("level", "verdict_level")):
            assert both[one].to_list() == both[other].to_list()


def test_elsewhere_the_primary_pair_is_one_of_the_others() -> None:
    table = systems(utility(), RETRIEVERS, None, HERE._replace(k=5), MARGIN)
    assert set(table["role"]) == {EXPLORATORY} and table["family_size"].to_list() == [6] * 6
    assert found(table, EXPLORATORY) == {pair[::-1] for pair in itertools.combinations(RETRIEVERS, 2)}


def test_what_has_no_test_has_its_reason() -> None:
    few = systems(utility(4), RETRIEVERS[:2], None, HERE, MARGIN)
    assert few.select("role", "verdict", "reason", "low").row(0) == (PRIMARY, TOO_FEW, "fewer than 5 queries", None)
    same = utility().filter(retriever="bm25")
    both = pl.concat([same, same.with_columns(retriever=pl.lit("dense"))])
    row = systems(both, RETRIEVERS, None, HERE, MARGIN).row(0, named=True)
    assert (row["mean_difference"], row["p_value"], row["reason"]) == (0.0, None, "all differences are equal")
    assert systems(utility(), RETRIEVERS[:1], "rel", None, MARGIN).is_empty()


def at_lengths(queries: int, lead: float, gain: float, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """P that rises with the logarithm of the answer's length; dense's answers are longer by a factor e^lead."""
    random, rows = np.random.default_rng(seed), []
    cell = {"ordering": "descending", "k": 5, "references": "lenient"}
    for query in range(queries):
        for retriever, more, better in (("bm25", 0.0, 0.0), ("dense", lead, gain)):
            tokens = float(np.exp(3.8 + more + random.normal(0, 0.4)))
            p = 0.3 + better + 0.1 * np.log1p(tokens) + random.normal(0, 0.05)
            rows.append({"retriever": retriever, **cell, "qid": f"q{query:03d}", "p": float(p), "tokens": tokens})
    frame = pl.DataFrame(rows)
    return frame.drop("tokens"), frame.select("retriever", "qid", "tokens")


PAIR = Primary("dense", "bm25", "descending", 5, "lenient", "nDCG", "minilm")


def primary_at(utility: pl.DataFrame, lengths: pl.DataFrame | None) -> dict:
    found = systems(utility, ["bm25", "dense"], "bm25", PAIR, 0.02, lengths)
    return found.row(by_predicate=pl.col("role") == "primary", named=True)


def test_the_difference_at_equal_length_is_the_gain_without_that_of_the_length() -> None:
    for gain in (0.0, 0.05):
        row = primary_at(*at_lengths(800, 0.3, gain))
        assert row["mean_difference"] == pytest.approx(gain + 0.03, abs=0.01)
        assert row["equal_length_difference"] == pytest.approx(gain, abs=0.01)
        rows = [primary_at(*at_lengths(40, 0.3, gain, seed)) for seed in range(1, 41)]
        assert sum(one["equal_length_low"] < gain < one["equal_length_high"] for one in rows) >= 34
        assert row["length_ratio"] == pytest.approx(np.exp(0.3), rel=0.05)


def test_the_difference_at_equal_length_is_an_intercept_with_the_jackknifes_interval() -> None:
    utility, lengths = at_lengths(30, 0.2, 0.02)
    row = primary_at(utility, lengths)
    p, tokens = ({(r["retriever"], r["qid"]): r[name] for r in table.iter_rows(named=True)}
                 for table, name in ((utility, "p"), (lengths, "tokens")))  # fmt: skip
    qids = sorted({qid for _, qid in p})
    y = np.array([p["dense", qid] - p["bm25", qid] for qid in qids])
    x = np.array([np.log1p(tokens["dense", qid]) - np.log1p(tokens["bm25", qid]) for qid in qids])
    assert row["equal_length_difference"] == pytest.approx(np.polyfit(x, y, 1)[1])
    left_out = [np.polyfit(np.delete(x, one), np.delete(y, one), 1)[1] for one in range(30)]
    pseudo = 30 * np.polyfit(x, y, 1)[1] - 29 * np.array(left_out)
    (low,), (high,) = Means.cautious(pseudo[:, None]).interval()
    assert (row["equal_length_low"], row["equal_length_high"]) == pytest.approx((low, high))


def test_equal_length_changes_no_word_and_says_why_there_is_none() -> None:
    utility, lengths = at_lengths(30, 0.2, 0.02)
    without, with_lengths = primary_at(utility, None), primary_at(utility, lengths)
    assert without["equal_length_reason"] == NO_LENGTHS and without["equal_length_difference"] is None
    own = [name for name in without if "length" in name]
    assert {name: value for name, value in without.items() if name not in own} == {
        name: value for name, value in with_lengths.items() if name not in own
    }
    longer = primary_at(*at_lengths(30, 3.0, 0.02))
    assert longer["equal_length_difference"] is None and longer["equal_length_reason"].startswith("fewer than 5")
    unknown = primary_at(utility, lengths.with_columns(tokens=pl.lit(None, pl.Float64)))
    assert unknown["equal_length_reason"] == NO_LENGTHS
    same = primary_at(utility, lengths.with_columns(tokens=pl.lit(40.0)))
    assert same["equal_length_reason"] == SAME_LENGTHS
