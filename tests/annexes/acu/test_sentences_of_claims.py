"""What every sentence of the page of claims claims, computed a second way, as test_every_sentence.py does it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.acu import sentences as of_claims
from ragrelay.generation.likelihoods.mass import mass_counts
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tests.annexes.acu.claims_study import study_of as claims_study
from tests.support.approved import approve, not_approved
from tests.unit.report.second_way import PACKAGE, agree, ends, joined, num

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
WORDS = ("in the direction", "opposite", "either direction", "which direction", "true", "false", "supports", "refutes")
"""What sentences on claims tell, with the words of all pages."""

# Claims: the made-up likelihoods of claims_study.py, from its probabilities.

TOWARDS = {
    "supports": "+--", "insufficient-supports": "++-", "insufficient-neutral": "-+-",
    "insufficient-contradictory": "-+-", "insufficient-refutes": "-++", "refutes": "--+", "not_applicable": "-+-",
}  # fmt: skip
"""Where evidence of a stance should move True, None and False."""


def way(before: float, after: float) -> float:
    return (after - before) / (1 - before if after > before else before)


def test_claims_say_what_the_likelihoods_say_and_are_approved(tmp_path: Path) -> None:
    """Mean ACU of 42 pairs, BCa over claims: True grows with evidence, False is likeliest without."""
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
    side = "opposite" if high < 0 else "in the direction" if low > 0 else ""
    followed = np.mean([stance == "supports" for stance in stance_of])
    known = [stance for stance in stance_of if stance != "not_applicable"]
    conflicts = [stance for stance in known if stance in ("supports", "insufficient-supports")]
    claims = [
        f"{n} {n // 3} {side or 'either direction'} {acu(None)} {acu('supports')} supports {acu('refutes')} refutes",
        f"true 0% none 0% false 100% true 100% none 0% false 0% 100% {followed:.0%}",
        f"{len(conflicts)} {len(known)} 100%",
    ]
    rows = study.correlations.filter(coefficient="spearman", stance="all stances")
    length = rows.filter(characteristic="evidence_length").row(0, named=True)
    assert length["value"] == pytest.approx(stats.spearmanr(range(n), moved).statistic)
    tested = rows.drop_nulls("p_claims")
    holm = multipletests(tested["p_claims"].to_numpy(), method="holm")[1]
    assert tested["p_claims_holm"].to_list() == pytest.approx(list(holm))
    clear = tested.filter(pl.Series(holm < 0.05)).sort(pl.col("value").abs(), descending=True).to_dicts()
    names = {row["characteristic"]: num(row["value"], 2) for row in clear}
    more = [len(names) - 5] if len(names) > 5 else []
    some = [f"{name} {rho}" for name, rho in names.items()][:5]
    several = [len(names)] if len(names) > 1 else []
    claims.append(joined([*several, *some, *more]) if names else str(rows["value"].count()))
    found, answer = of_claims.claim_sentences(study, unit), of_claims.claim_answer(study, unit).sentence
    agree(found.sentences, claims, {*WORDS, *names})
    agree([answer], [f"{side or 'undecided which direction'} {acu(None)} {n}"], WORDS)
    agree(found.limits, ["none", "is_gold", "", ""], {"is_gold"})
    approve(APPROVED / "claims.txt", [answer, *found.sentences, *found.limits])


def test_claims_without_an_effect_say_so_as_approved(tmp_path: Path) -> None:
    study = claims_study(tmp_path)
    (unit,) = study.units
    none = study.correlations.with_columns(p_claims_holm=pl.lit(0.2))
    unknown = study.correlations.with_columns(value=pl.lit(None, pl.Float64))
    said = [of_claims.claim_sentences(replace(study, correlations=of), unit).sentences[3] for of in (none, unknown)]
    n = none.filter(coefficient="spearman", stance="all stances")["value"].count()
    agree(said, [f"{n}", ""])
    silent = replace(study, usage=study.usage.with_columns(mean_mass_evidence=pl.lit(0.000012)))
    said += [of_claims.claim_answer(silent, unit).sentence, *of_claims.claim_sentences(silent, unit).sentences]
    agree(said[2:], ["undecided true none false", "true none false 42 0.0012%"], WORDS)
    for mean, word, past in (
        (0.0, "undecided which direction", "either direction"),
        (0.2, "in the direction", "in the direction"),
        (-0.2, "opposite", "opposite"),
    ):
        ended = dict(zip(("mean_acu", "low", "high"), (mean, mean - 0.1, mean + 0.1), strict=True))
        shown = replace(study, usage=study.usage.with_columns(**{name: pl.lit(end) for name, end in ended.items()}))
        own = ends(mean, (mean - 0.1, mean + 0.1))
        two = of_claims.claim_answer(shown, unit).sentence, of_claims.claim_sentences(shown, unit).sentences[0]
        agree(two, [f"{word} {own} 42", f"42 14 {past} {own} {own} supports {own} refutes"], WORDS)
        said += two
    judge = mass_counts(pl.Series([0.9] * 15 + [0.1] * 5), ("Yes", "No"))
    said.append(of_claims.claim_sentences(replace(study, judged={"mine": judge}), unit).limits[-1])
    agree(said[-1:], ["5 20 less than 0.70"], set())
    approve(APPROVED / "states-of-claims.txt", [of_claims.claim_answer(silent, unit).question, *said])


def test_a_text_of_the_page_is_approved() -> None:
    assert not_approved(PACKAGE / "annexes/acu/sentences.py", APPROVED) == []
