"""Build a claims study's tables for the page."""

import polars as pl

from ragrelay.annexes.acu.correlations import COEFFICIENTS
from ragrelay.annexes.acu.study import ClaimsStudy
from ragrelay.annexes.acu.usage import ALL
from ragrelay.report.display.numbers import count, number, p_value, share
from ragrelay.report.display.tables import REMARK, Column, Table, between, name, numeric, table_of, textual

MOST_ROWS = 3_000
UNIT = (name("claims"), name("generator"), name("template"))
SIZES = (numeric("pairs", "n", count), numeric("claims", "n_claims", count))
PREDICTION_WORDS = ("True", "None", "False")


def usage_table(study: ClaimsStudy) -> Table:
    """Show ACU and the model's predictions for each stance."""
    return table_of(
        study.usage, *UNIT, name("stance"), *SIZES, between("mean ACU", "mean_acu"),
        numeric("median ACU", "median_acu"),
        *(numeric(f"Δ {word}", f"mean_change_{word.lower()}", number, 2) for word in PREDICTION_WORDS),
        numeric("memory conflict", "share_conflict", share), numeric("of pairs", "n_memory", count),
        *(numeric(title, f"share_{column}", share) for title, column in (
            ("switched", "switched"), ("switched, in conflict", "switched_conflict"), ("followed", "followed"))),
        REMARK,
    )  # fmt: skip


def said_table(study: ClaimsStudy) -> Table:
    """Show the predictions without and with the evidence, and the total probability of the three label words."""
    of_mass = textual(
        "probability of the three words", lambda row: f"{_part(row['mean_mass'])} → {_part(row['mean_mass_evidence'])}"
    )
    return table_of(study.usage, *UNIT, name("stance", chosen=ALL), *map(_said, PREDICTION_WORDS), of_mass)


def acu_correlation_table(study: ClaimsStudy) -> Table:
    """Show the Spearman and Pearson correlations between characteristics and ACU, with p-values."""
    keys = ["claims", "generator", "template", "stance", "characteristic"]
    frames = [study.correlations.filter(coefficient=name) for name in COEFFICIENTS]
    wide = frames[0].join(frames[1].drop("n", "n_claims", "n_missing", "reason"), on=keys, suffix="_pearson")
    ordered = pl.concat([wide.filter(stance=ALL), wide.filter(pl.col("stance") != ALL)])
    return table_of(
        ordered, *UNIT, name("stance", chosen=ALL), name("characteristic"),
        between("Spearman’s ρ", "value", 2), numeric("p (ρ)", "p_claims", p_value),
        numeric("p, Holm", "p_claims_holm", p_value), numeric("p, BH", "p_claims_bh", p_value),
        between("Pearson’s r", "value_pearson", 2, ("low_pearson", "high_pearson")),
        numeric("p (r)", "p_claims_pearson", p_value), numeric("p, Holm (r)", "p_claims_holm_pearson", p_value),
        *SIZES, numeric("missing", "n_missing", count), REMARK, most=MOST_ROWS,
    )  # fmt: skip


def composition_table(study: ClaimsStudy) -> Table:
    """Show the number of pairs in each set of claims, by stance and relevance."""
    relevance = {True: "yes", False: "no", None: "not said"}
    return table_of(
        study.composition, name("claims"), Column("stance", False, True, text=lambda row: row["stance"] or "none"),
        Column("relevant", False, True, text=lambda row: relevance[row["relevant"]]), SIZES[0],
        numeric("claims with such a pair", "n_claims", count), numeric("share of the set", "share", share),
    )  # fmt: skip


def acu_means_table(study: ClaimsStudy) -> Table:
    """Show the mean of each characteristic in each set of claims."""
    missing = numeric("missing", "n_missing", count)
    return table_of(study.means, *UNIT, name("characteristic"), between("mean", "mean"), *SIZES, missing, REMARK)


def word_token_table(study: ClaimsStudy) -> Table:
    """Show the tokens whose probabilities are added up for each label word, and the engine used."""
    rows = [
        [claims, generator, word, ", ".join(f"{token['text']!r} ({token['id']})" for token in tokens),
         "yes" if all(token["whole"] for token in tokens) else "not all",
         ", ".join(receipt["engines"]), receipt["fingerprint"]]
        for (claims, generator), receipt in study.receipts.items()
        for word, tokens in receipt["words"].items()
    ]  # fmt: skip
    titles = ("word", "first tokens (id)", "whole word", "engine", "fingerprint")
    return Table([*UNIT[:2], *map(Column, titles)], rows)


def _said(word: str) -> Column:
    column = f"said_{word.lower()}"
    return textual(word, lambda row: f"{share(row[column])} → {share(row[f'{column}_evidence'])}")


def _part(value: float) -> str:
    return share(value) if value >= 0.01 else f"{100 * value:.2g}%"
