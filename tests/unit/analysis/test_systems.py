"""Systems: differences of mean P of every pair, by role, against a second computation of words and intervals."""

import itertools

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.equivalence import equivalences
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.systems import EXPLORATORY, PRIMARY, REFERENCE, SCHEMA, systems
from ragrelay.analysis.verdicts import TOO_FEW, of_interval
from ragrelay.vocabulary.primary import Primary

RETRIEVERS = ["bm25", "dense", "mono", "rel"]
MARGIN = 0.02
CELL = {"ordering": "descending", "k": 2, "references": "lenient"}
HERE = Primary("dense", "bm25", *CELL.values(), "nDCG", "minilm")


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
        assert (row["family_size"], row["n"]) == (size, len(difference))
        assert row["n_unpaired"] == 40 - len(difference) == ("mono" in (row["retriever"], row["against_retriever"]))
        assert (row["p_bonferroni"] < 0.05) == (low > 0 or high < 0)
    assert dict(table.schema) == dict(SCHEMA)


def test_the_words_are_those_of_equivalence() -> None:
    """Where the primary pair has the reference retriever, too: then it is tested alone in both tables."""
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
