"""From kept likelihoods to ACU and its tables: probabilities, predictions, intervals, correlations."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.acu.characteristic_columns import NAMES
from ragrelay.annexes.acu.correlations import acu_correlations
from ragrelay.annexes.acu.datasets import characteristic_means, composition
from ragrelay.annexes.acu.pairs import SCHEMA, acu, compute_acu
from ragrelay.annexes.acu.usage import ALL, SUFFICIENT, clustered_interval, numbered, usage
from ragrelay.base.errors import InputError
from scipy import stats

from tests.annexes.acu.claims_study import UNIT, characteristic_columns, claims_of, stored, study_of

WITHOUT = [(0.6, 0.1, 0.2), (0.6, 0.1, 0.2), (0.1, 0.5, 0.3), (0.2, 0.1, 0.6)]
GIVEN = [(0.9, 0.05, 0.01), (0.1, 0.1, 0.7), (0.1, 0.6, 0.2), (0.3, 0.4, 0.1)]
SAID = ["supports", "refutes", "supports", "insufficient-neutral"]


def made(folder: Path) -> pl.DataFrame:
    claims = claims_of(SAID)
    keys, store = stored(folder, claims, WITHOUT, GIVEN)
    return compute_acu(claims, keys, "plain", store, store)


def test_probabilities_are_summed_over_tokens(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert found.schema == pl.Schema(SCHEMA)
    assert found.select("p_true", "p_none", "p_false").to_numpy() == pytest.approx(np.array(WITHOUT))
    ending = [f"p_{word}_evidence" for word in ("true", "none", "false")]
    assert found.select(ending).to_numpy() == pytest.approx(np.array(GIVEN))
    assert found["acu"].to_numpy() == pytest.approx(acu(np.array(WITHOUT), np.array(GIVEN), SAID))
    assert found["mass_evidence"].to_list() == pytest.approx([0.96, 0.9, 0.9, 0.8])
    assert found["evidence_perplexity"].to_list() == pytest.approx([np.exp(0.5)] * 4)


def test_predictions_and_conflicts(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert found["prediction"].to_list() == ["True", "True", "None", "False"]
    assert found["prediction_evidence"].to_list() == ["True", "False", "None", "None"]
    assert found["memory_conflict"].to_list() == [False, True, False, False]
    assert found["switched"].to_list() == [False, True, False, True]
    assert found["followed"].to_list() == [True, True, False, True]


def test_a_lacking_likelihood_is_an_error(tmp_path: Path) -> None:
    claims = claims_of(SAID)
    keys, store = stored(tmp_path, claims, WITHOUT, GIVEN)
    more = pl.concat([keys, keys.head(1).with_columns(continuation=pl.lit("absent"))])
    with pytest.raises(InputError, match="no likelihoods for 1 of 33 keys"):
        compute_acu(claims, more, "plain", store, store)


def test_usage(tmp_path: Path) -> None:
    table = usage(made(tmp_path).with_columns(**{k: pl.lit(v) for k, v in UNIT.items()}), 200, 0)
    assert table["stance"].to_list() == ["supports", "insufficient-neutral", "refutes", SUFFICIENT, ALL]
    whole = table.row(-1, named=True)
    assert (whole["n"], whole["n_claims"], whole["n_memory"], whole["n_conflict"]) == (4, 4, 4, 1)
    assert whole["mean_acu"] == pytest.approx(acu(np.array(WITHOUT), np.array(GIVEN), SAID).mean())
    assert whole["low"] <= whole["mean_acu"] <= whole["high"]
    shares = ("share_conflict", "share_switched", "share_switched_conflict", "share_followed", "said_true")
    assert [whole[name] for name in shares] == [0.25, 0.5, 1.0, 0.75, 0.5]
    values = acu(np.array(WITHOUT), np.array(GIVEN), SAID)
    assert table.filter(stance=SUFFICIENT)["mean_acu"].item() == pytest.approx(values[:3].mean())
    assert table.filter(stance="supports")["reason"].item() == "fewer than 4 claims"
    assert table.filter(stance="supports")["low"].item() is None


def test_an_interval_over_claims_is_wider_than_one_over_pairs_that_repeat_each_other() -> None:
    chance = np.random.default_rng(1)
    values = np.repeat(chance.normal(size=30), 5)
    of_claims = clustered_interval(np.repeat(np.arange(30), 5), values, 2_000, 0)
    of_pairs = clustered_interval(np.arange(150), values, 2_000, 0)
    assert of_claims.low is not None and of_claims.high is not None
    assert of_pairs.low is not None and of_pairs.high is not None
    ratio = (of_claims.high - of_claims.low) / (of_pairs.high - of_pairs.low)
    assert ratio == pytest.approx(np.sqrt(5), rel=0.15)
    expected = stats.ttest_1samp(values[::5], 0.0).confidence_interval(0.95)
    assert (of_claims.low, of_claims.high) == pytest.approx(tuple(expected), abs=0.08)


def test_correlations_are_scipys_each_with_its_own_p(tmp_path: Path) -> None:
    claims = claims_of(["supports", "refutes"] * 12, per_claim=2)
    chance = np.random.default_rng(0)
    sides = [[tuple(row) for row in chance.dirichlet([1, 1, 1, 1], 24)[:, :3]] for _ in range(2)]
    without = [sides[0][i // 2] for i in range(24)]
    keys, store = stored(tmp_path, claims, without, sides[1])
    pairs = compute_acu(claims, keys, "plain", store, store).with_columns(
        **{k: pl.lit(v) for k, v in UNIT.items()}, **characteristic_columns(24)
    )
    table = acu_correlations(pairs, 300, 0)
    row = table.filter(stance=ALL, characteristic="evidence_length")
    y = pairs["acu"].to_numpy()
    for name, test in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr)):
        found, expected = row.filter(coefficient=name).row(0, named=True), test(np.arange(24), y)
        assert (found["value"], found["p_value"]) == pytest.approx((expected.statistic, expected.pvalue))
        assert found["low"] < found["value"] < found["high"] and (found["n"], found["n_claims"]) == (24, 12)
        assert found["p_holm"] >= found["p_value"] and found["p_claims_holm"] >= found["p_claims"]
    reasons = dict(table.filter(stance=ALL, coefficient="spearman").select("characteristic", "reason").iter_rows())
    assert reasons["claim_length"] == "claim_length is constant"
    assert reasons["is_gold"] == "fewer than 5 pairs or 4 claims"
    gold = table.filter(stance=ALL, characteristic="is_gold", coefficient="spearman").row(0, named=True)
    assert (gold["n"], gold["n_missing"], gold["value"]) == (0, 24, None)
    family = table.filter(stance=ALL, coefficient="spearman")
    assert set(family["family_size"]) == {family["p_value"].count()}, "a family is the characteristics of one stance"


def test_p_over_claims_does_not_fall_where_pairs_only_repeat_their_claim() -> None:
    """With each claim four times over, p of pairs shrinks, and p of claims is that of the claims alone."""
    chance = np.random.default_rng(3)
    values = pl.DataFrame({"acu": chance.normal(size=40), "claim_id": [f"c{i:02d}" for i in range(40)]})
    values = values.with_columns(**{k: pl.lit(v) for k, v in UNIT.items()}, evidence_stance=pl.lit("supports"))
    x = {name: chance.normal(size=40) if name == "evidence_length" else np.zeros(40) for name in NAMES}
    x["evidence_length"] += 0.3 * values["acu"].to_numpy()
    once = values.with_columns(**{name: pl.Series(column) for name, column in x.items()})
    rows = [
        acu_correlations(pairs, 200, 0).filter(stance=ALL, characteristic="evidence_length", coefficient="pearson")
        for pairs in (once, pl.concat([once] * 4))
    ]
    (pairs_once, claims_once), (pairs_often, claims_often) = (row.select("p_value", "p_claims").row(0) for row in rows)
    assert pairs_often < pairs_once / 10
    assert claims_often == pytest.approx(claims_once, rel=1e-9)


def test_what_is_always_so_has_no_interval_and_says_why(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    assert set(study.usage["stance"]) > {"supports", ALL}
    known = study.correlations.filter(pl.col("value").is_not_null())
    assert known.height and known["p_value"].is_not_null().all()
    unknown = study.correlations.filter(pl.col("value").is_null())
    assert unknown.height and unknown["reason"].is_not_null().all()


def test_sets_of_claims_are_compared() -> None:
    """Counts are those by hand, means and intervals are over claims, and what has no value is counted."""
    claims = claims_of(["supports", "refutes", "supports"] * 8, per_claim=3)
    claims = claims.with_columns(
        relevant=pl.Series([True, False, None] * 8),
        evidence_stance=pl.when(pl.col("id") == "r0").then(None).otherwise(pl.col("evidence_stance")),
    )
    table = composition({"mine": claims, "one": claims.head(1)})
    assert table.filter(claims="mine").select("stance", "relevant", "n", "n_claims").rows() == [
        ("refutes", False, 8, 8), ("supports", True, 7, 7), ("supports", None, 8, 8), (None, True, 1, 1),
    ]  # fmt: skip
    assert table.filter(claims="one").row(0) == ("one", None, True, 1, 1, 1.0)
    described = claims.select("id").with_columns(**characteristic_columns(24))
    pairs = claims.with_columns(
        **{name: pl.lit(value) for name, value in UNIT.items()}, evidence_perplexity=pl.Series([2.0, None, 4.0] * 8),
        p_true=0.5, p_none=0.25, p_false=0.25, memory_conflict=True,
    )  # fmt: skip
    means = characteristic_means({"mine": claims}, {"mine": described}, pairs, 300, 0)
    assert set(means["characteristic"]) == set(NAMES)
    length = means.row(by_predicate=pl.col("characteristic") == "evidence_length", named=True)
    assert (length["mean"], length["n"], length["n_claims"], length["generator"]) == (11.5, 24, 8, None)
    expected = clustered_interval(numbered(claims["claim_id"]), np.arange(24.0), 300, 0)
    assert (length["low"], length["high"]) == (expected.low, expected.high)
    perplexity = means.row(by_predicate=pl.col("characteristic") == "evidence_perplexity", named=True)
    assert (perplexity["mean"], perplexity["n_missing"], perplexity["generator"]) == (3.0, 8, "lm")
    gold = means.row(by_predicate=pl.col("characteristic") == "is_gold", named=True)
    assert (gold["mean"], gold["n"], gold["reason"]) == (None, 0, "no value")
    constant = means.row(by_predicate=pl.col("characteristic") == "claim_length", named=True)
    assert (constant["mean"], constant["low"], constant["reason"]) == (3.0, None, "claim_length is constant")
