"""Every sentence of the page of claims, with its numbers computed a second way.

As test_every_sentence.py does it for a study's page: from the single scores, answers and measures of the demo and of
public runs, by numpy, scipy, statsmodels and scikit-learn. ``LISTED`` says what each sentence claims. A number that a
page has from shuffled or drawn queries is drawn again here, from other seeds: ``{0.123~0.02}`` in an expected text is
a number of the page within 0.02 of 0.123.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.acu import sentences as of_claims
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tests.annexes.acu.claims_study import study_of as claims_study
from tests.unit.report.test_every_sentence import (
    PACKAGE,
    ends,
    joined,
    many,
    num,
    unlisted,
)

pytestmark = pytest.mark.page
LISTED = {
    "evidence": ("mean ACU; shares of predictions", "one set, generator, template", "pairs and claims", "BCa, claims"),
}
"""Estimand, rows, n and test of every kind of sentence."""


# Claims: the made-up likelihoods of tests/annexes/acu/claims_study.py, from its probabilities.

TOWARDS = {
    "supports": "+--", "insufficient-supports": "++-", "insufficient-neutral": "-+-",
    "insufficient-contradictory": "-+-", "insufficient-refutes": "-++", "refutes": "--+", "not_applicable": "-+-",
}  # fmt: skip
"""Where evidence of a stance should move True, None and False."""


def way(before: float, after: float) -> float:
    return (after - before) / (1 - before if after > before else before)


def test_claims_say_what_the_likelihoods_say(tmp_path: Path) -> None:
    """In 42 pairs True grows with evidence and is likeliest with it; False is likeliest without."""
    study = claims_study(tmp_path)
    (unit,), n = study.units, 6 * len(TOWARDS)
    without = [(0.3 + 0.001 * (i // 3), 0.2, 0.4) for i in range(n)]
    given = [(0.5 + 0.4 * i / n, 0.1, 0.3 - 0.2 * i / n) for i in range(n)]
    stance_of = [list(TOWARDS)[i % len(TOWARDS)] for i in range(n)]
    moved = np.array([
        np.mean([int(f"{sign}1") * way(*pair) for sign, *pair in zip(TOWARDS[stance], *both, strict=True)])
        for stance, *both in zip(stance_of, without, given, strict=True)
    ])  # fmt: skip
    usage = {row["stance"]: row for row in study.usage.to_dicts()}

    def acu(stance: str | None) -> str:
        """The mean with the interval of the table, which resamples claims, about where clusters put it."""
        chosen = np.array([stance in (None, one) for one in stance_of])
        row, values = usage[stance or "all stances"], moved[chosen]
        if stance is None:
            error = np.std([values[3 * i : 3 * i + 3].mean() for i in range(n // 3)], ddof=1) / np.sqrt(n / 3)
            assert (row["high"] - row["low"]) / 2 == pytest.approx(2.16 * error, rel=0.25)
        return ends(float(values.mean()), (row["low"], row["high"]))

    low, high = usage["all stances"]["low"], usage["all stances"]["high"]
    side = "against its stance" if high < 0 else "in the direction of its stance" if low > 0 else None
    moves = f"moved the model {side}" if side else "moved the model in neither direction clearly"
    followed = np.mean([stance == "supports" for stance in stance_of])
    known = [stance for stance in stance_of if stance != "not_applicable"]
    conflicts = [stance for stance in known if stance in ("supports", "insufficient-supports")]
    found = of_claims.claim_sentences(study, unit)
    assert found.sentences[:3] == [
        f"On average, evidence {moves}, over {n} pairs of claim and "
        f"evidence ({n // 3} claims): ACU {acu(None)}; {acu('supports')} where it supports and {acu('refutes')} where "
        "it refutes.",
        "The likeliest of the three words was, without evidence, True for 0%, None for 0% and False for 100% of the "
        "pairs, and with evidence True for 100%, None for 0% and False for 0%; evidence changed it for 100%, and "
        f"{followed:.0%} then agree with the stance.",
        f"In {len(conflicts)} of the {len(known)} pairs with applicable evidence, the evidence contradicts what the "
        "model said without it; it changed the prediction in 100% of these.",
    ]
    strong = (
        f"Evidence moves the model {side}" if side else ("We do not know in which direction evidence moves the model")
    )
    answer = of_claims.claim_answer(study, unit)
    assert answer.sentence == f"{strong}: mean ACU {acu(None)}, {n} pairs of claim and evidence."
    rows = study.correlations.filter(coefficient="spearman", stance="all stances")
    length = rows.filter(characteristic="evidence_length").row(0, named=True)
    assert length["value"] == pytest.approx(stats.spearmanr(range(n), moved).statistic)
    tested = rows.drop_nulls("p_claims")
    holm = multipletests(tested["p_claims"].to_numpy(), method="holm")[1]
    assert tested["p_claims_holm"].to_list() == pytest.approx(list(holm))
    clear = tested.filter(pl.Series(holm < 0.05)).sort(pl.col("value").abs(), descending=True).to_dicts()
    names = [f"{row['characteristic']} (ρ {num(row['value'], 2)})" for row in clear]
    more = f" and {many(len(names) - 5, 'other')}" if len(names) > 5 else ""
    assert found.sentences[3:] == [
        f"Correlated with ACU over all stances, after Holm’s correction: {joined(names[:5])}{more}."
        if names
        else f"None of {many(rows['value'].count(), 'characteristic')} of the evidence is correlated with ACU beyond "
        "chance (Spearman, all stances, after Holm’s correction)."
    ]
    assert found.limits == [
        "For None a first token is only the beginning of the word, and of other words with it; see the table of "
        "tokens.",
        "Not reported for these claims: is_gold.",
        "Several pairs share a claim, so tests and intervals of correlations have whole claims as their unit. The "
        "paper’s "
        "p-values treat the pairs as independent and are too small; they are in correlations.csv (p_value).",
        "Entities were found by a rule, as capitalised words and numbers, not by a trained model.",
    ]


def test_claims_without_an_effect_say_so(tmp_path: Path) -> None:
    study = claims_study(tmp_path)
    (unit,) = study.units
    none = replace(study, correlations=study.correlations.with_columns(p_claims_holm=pl.lit(0.2)))
    n = none.correlations.filter(coefficient="spearman", stance="all stances")["value"].count()
    assert of_claims.claim_sentences(none, unit).sentences[3] == (
        f"None of {n} characteristics of the evidence is correlated with ACU beyond chance (Spearman, all stances, "
        f"after "
        "Holm’s correction)."
    )
    unknown = replace(study, correlations=study.correlations.with_columns(value=pl.lit(None, pl.Float64)))
    assert (
        of_claims.claim_sentences(unknown, unit).sentences[3]
        == "No characteristic of the evidence could be correlated with ACU."
    )
    silent = study.usage.with_columns(mean_mass_evidence=pl.lit(0.000012))
    without = replace(study, usage=silent)
    assert of_claims.claim_answer(without, unit).sentence == (
        "The model does not answer with True, None or False, so we do not know."
    )
    assert of_claims.claim_sentences(without, unit).sentences == [
        "The model does not answer with True, None or False: the three words have only 0.0012% of the probability "
        "at the "
        "answer’s first position, over 42 pairs of claim and evidence. The tables compare these small "
        "probabilities; no "
        "conclusions are drawn from them."
    ]
    signs = {
        1: ("moves the model in the direction of its stance", "moved the model in the direction of its stance"),
        -1: ("moves the model against its stance", "moved the model against its stance"),
    }
    undecided = replace(study, usage=study.usage.with_columns(low=pl.lit(-0.1), high=pl.lit(0.1)))
    assert "moved the model in neither direction clearly" in of_claims.claim_sentences(undecided, unit).sentences[0]
    assert (
        "We do not know in which direction evidence moves the model" in of_claims.claim_answer(undecided, unit).sentence
    )
    for sign, (said, past) in signs.items():
        ended = study.usage.with_columns(
            mean_acu=pl.lit(0.2 * sign), low=pl.lit(0.2 * sign - 0.1), high=pl.lit(0.2 * sign + 0.1)
        )
        assert of_claims.claim_answer(replace(study, usage=ended), unit).sentence.startswith(
            f"Evidence {said}: mean ACU "
        )
        assert (
            of_claims.claim_sentences(replace(study, usage=ended), unit)
            .sentences[0]
            .startswith(f"On average, evidence {past}, ")
        )


@pytest.mark.parametrize("module", ["annexes/acu/sentences.py"])
def test_a_text_of_the_page_is_listed_here(module: str) -> None:
    assert unlisted(PACKAGE / module, Path(__file__)) == []


QUESTIONS = {"How far does evidence move the model?"}


def test_every_kind_of_sentence_is_listed() -> None:
    assert all(len(claim) == 4 and all(claim) for claim in LISTED.values())
