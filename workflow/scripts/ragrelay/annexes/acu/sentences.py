"""Write the page's sentences about a claims study's findings, and about the limits of these findings."""

from typing import Any

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.annexes.acu.characteristic_columns import OF_MODELS
from ragrelay.annexes.acu.correlations import COEFFICIENTS
from ragrelay.annexes.acu.entities import CAPITALISED
from ragrelay.annexes.acu.study import ClaimsStudy
from ragrelay.annexes.acu.usage import ALL, UNITS
from ragrelay.report.display.findings import Conclusion, Findings, side_of_zero
from ragrelay.report.display.numbers import count, counted, listing, number, share, with_interval

LITTLE = 0.5
"""If the three label words have less total probability than this, the model would mostly answer something else."""
MOST_NAMED = 5
STANCE = {1: "in the direction of the evidence’s stance", -1: "in the opposite direction to the evidence’s stance"}


def claim_answer(study: ClaimsStudy, unit: tuple[str, str, str]) -> Conclusion:
    """Conclude whether mean ACU is above or below zero for a claim set, a generator and a template."""
    row = study.usage.filter(**dict(zip(UNITS, unit, strict=True)), stance=ALL).row(0, named=True)
    heading = " · ".join(unit), "How far does evidence move the model?"
    if _mass(row) < LITTLE:
        return Conclusion(*heading, "We do not know, because the model does not answer with True, None or False")
    side = side_of_zero(row)
    unknown = "We do not know in which direction evidence moves the model"
    strong = f"Evidence moves the model {STANCE[side]}" if side else unknown
    mean = with_interval(row["mean_acu"], row["low"], row["high"])
    return Conclusion(*heading, strong, f"mean ACU is {mean} over {counted(row['n'], 'claim–evidence pair')}")


def claim_sentences(study: ClaimsStudy, unit: tuple[str, str, str]) -> Findings:
    """Write sentences about the findings for a claim set, a generator and a template."""
    claims, generator, template = unit
    chosen = (pl.col("claims") == claims, pl.col("generator") == generator, pl.col("template") == template)
    rows = {row["stance"]: row for row in study.usage.filter(*chosen).to_dicts()}
    correlated = study.correlations.filter(*chosen)
    limits = _limits(study, unit, correlated)
    if _mass(rows[ALL]) < LITTLE:
        return Findings(f"{claims} · {generator} · {template}", [_silent(rows[ALL])], limits)
    statements = [_moved(rows), _said(rows[ALL])]
    if rows[ALL]["n_conflict"]:
        statements.append(_conflict(rows[ALL]))
    statements.append(_characteristics(correlated))
    return Findings(f"{claims} · {generator} · {template}", statements, limits)


def _mass(row: dict[str, Any]) -> float:
    """Return the total probability of the three words, without or with evidence, whichever is lower."""
    return min(row["mean_mass"], row["mean_mass_evidence"])


def _silent(row: dict[str, Any]) -> str:
    return (
        "The model does not answer with True, None or False: on average over "
        f"{counted(row['n'], 'claim–evidence pair')}, the three words together have only {100 * _mass(row):.2g}% of "
        "the probability at the answer’s first position. The tables compare these small probabilities; ragrelay draws "
        "no conclusions from them."
    )


def _moved(rows: dict[str, dict[str, Any]]) -> str:
    by_stance = [f"{with_interval(row['mean_acu'], row['low'], row['high'])} if the evidence {stance} the claim"
                 for stance, row in rows.items() if stance in ("supports", "refutes")]  # fmt: skip
    whole = rows[ALL]
    side = side_of_zero(whole)
    moved = f"moved the model {STANCE[side]}" if side else "did not clearly move the model in either direction"
    pairs = f"{counted(whole['n'], 'claim–evidence pair')} ({counted(whole['n_claims'], 'claim')})"
    ends = f" ({listing(by_stance)})" if by_stance else ""
    mean = with_interval(whole["mean_acu"], whole["low"], whole["high"])
    return f"Averaged over {pairs}, evidence {moved}: mean ACU is {mean}{ends}."


def _said(row: dict[str, Any]) -> str:
    before, after = (
        listing([f"{word.capitalize()} for {share(row[f'said_{word}{ending}'])}" for word in ("true", "none", "false")])
        for ending in ("", "_evidence")
    )
    return (
        f"Without evidence, the likeliest of the three words was {before} of the pairs; with evidence, it was {after}. "
        f"Evidence changed the likeliest word in {share(row['share_switched'])} of the pairs. With evidence, the "
        f"likeliest word agreed with the stance in {share(row['share_followed'])} of the pairs."
    )


def _conflict(row: dict[str, Any]) -> str:
    switched = share(row["share_switched_conflict"])
    return (
        f"In {count(row['n_conflict'])} of the {count(row['n_memory'])} pairs whose evidence applies to the claim, the "
        f"evidence contradicts what the model predicts without it. In {switched} of such pairs, the evidence changed "
        "the prediction."
    )


def _characteristics(correlated: pl.DataFrame) -> str:
    tested = correlated.filter(pl.col("coefficient") == COEFFICIENTS[0], pl.col("stance") == ALL)
    known = tested.filter(pl.col("value").is_not_null())
    clear = known.filter(pl.col("p_claims_holm") < ALPHA).sort(pl.col("value").abs(), descending=True)
    if known.is_empty():
        return "No characteristic of the evidence could be correlated with ACU."
    if clear.is_empty():
        return (
            "No characteristic of the evidence correlates significantly with ACU (Spearman, all stances, after Holm’s "
            f"correction; {count(known.height)} tested)."
        )
    names = [f"{row['characteristic']} (ρ = {number(row['value'], 2)})" for row in clear.head(MOST_NAMED).to_dicts()]
    more = f" and {counted(clear.height - MOST_NAMED, 'other')}" if clear.height > MOST_NAMED else ""
    what = "one characteristic correlates" if clear.height == 1 else f"{count(clear.height)} characteristics correlate"
    return f"After Holm’s correction, {what} significantly with ACU over all stances: {listing(names)}{more}."


def _limits(study: ClaimsStudy, unit: tuple[str, str, str], correlated: pl.DataFrame) -> list[str]:
    claims, generator, _ = unit
    limits = []
    parts = [
        word
        for word, tokens in study.receipts[claims, generator]["words"].items()
        if not all(token["whole"] for token in tokens)
    ]
    if parts:
        limits.append(
            f"For {listing(parts)}, the first token is only the beginning of the word, so other words may begin with "
            "the same token; see the table of tokens."
        )
    unknown = correlated.filter((pl.col("stance") == ALL) & (pl.col("n") == 0))["characteristic"].unique()
    missing = set(unknown) - set(OF_MODELS)
    if missing:
        limits.append(f"Characteristics without values for these claims: {listing(sorted(missing))}.")
    limits.append(
        "Several pairs share a claim, so tests and intervals for correlations use claims as the units. P-values "
        "computed as in the paper (p_value in correlations.csv) treat pairs as independent and are too small."
    )
    if study.entities[claims] == CAPITALISED:
        limits.append("Entities were found with a rule (capitalised words and numbers), not with a trained model.")
    for counts in study.judged.get(claims, []):
        if "warning" in counts:
            of = counts["of"]
            limits.append(
                f"A model judged whether evidence refers to an external source. For {count(counts['count'])} of "
                f"{counted(of['questions'], 'text')}, it gave Yes and No together less than half of the probability "
                f"(mean over all texts: {number(of['mean_mass'], 2)}), so these judgements mean little."
            )
    return limits
