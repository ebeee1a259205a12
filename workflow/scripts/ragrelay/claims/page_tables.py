"""The tables of a claims study as the page shows them."""

import polars as pl

from ragrelay.claims.correlations import COEFFICIENTS
from ragrelay.claims.study import ClaimsStudy
from ragrelay.claims.usage import ALL
from ragrelay.display.numbers import count, number, p_value, share, with_interval
from ragrelay.display.tables import Column, Table

MOST_ROWS = 3_000


def usage_table(study: ClaimsStudy) -> Table:
    """ACU and what the model said, by stance."""
    rows = [
        [row["claims"], row["generator"], row["template"], row["stance"], count(row["n"]), count(row["n_claims"]),
         with_interval(row["mean_acu"], row["low"], row["high"]), number(row["median_acu"]),
         *(number(row[f"mean_change_{word}"], 2) for word in ("true", "none", "false")),
         share(row["share_conflict"]), count(row["n_memory"]), share(row["share_switched"]),
         share(row["share_switched_conflict"]), share(row["share_followed"]),
         row["reason"] or ""]
        for row in study.usage.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_unit(), Column("stance", filtered=True), Column("pairs", True), Column("claims", True),
               Column("mean ACU", True), Column("median ACU", True), Column("Δ True", True), Column("Δ None", True),
               Column("Δ False", True), Column("memory conflict", True), Column("of pairs", True),
               Column("switched", True), Column("switched, in conflict", True), Column("followed", True),
               Column("remark")]  # fmt: skip
    return Table(columns, rows)


def said_table(study: ClaimsStudy) -> Table:
    """What the model said without the evidence and with it, and the total probability of the three words."""
    rows = [
        [row["claims"], row["generator"], row["template"], row["stance"],
         *(f"{share(row[f'said_{word}'])} → {share(row[f'said_{word}_evidence'])}"
           for word in ("true", "none", "false")),
         f"{_part(row['mean_mass'])} → {_part(row['mean_mass_evidence'])}"]
        for row in study.usage.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_unit(), Column("stance", filtered=True, chosen=ALL), *(Column(word) for word in
               ("True", "None", "False")), Column("probability of the three words")]  # fmt: skip
    return Table(columns, rows)


def acu_correlation_table(study: ClaimsStudy) -> Table:
    """Characteristics and ACU: both coefficients, each with its own p-value."""
    keys = ["claims", "generator", "template", "stance", "characteristic"]
    frames = [study.correlations.filter(coefficient=name) for name in COEFFICIENTS]
    wide = frames[0].join(frames[1].drop("n", "n_claims", "n_missing", "reason"), on=keys, suffix="_pearson")
    ordered = pl.concat([wide.filter(stance=ALL), wide.filter(pl.col("stance") != ALL)])
    rows = [
        [*(row[key] for key in keys), with_interval(row["value"], row["low"], row["high"], 2), p_value(row["p_claims"]),
         p_value(row["p_claims_holm"]), p_value(row["p_claims_bh"]),
         with_interval(row["value_pearson"], row["low_pearson"], row["high_pearson"], 2),
         p_value(row["p_claims_pearson"]), p_value(row["p_claims_holm_pearson"]), count(row["n"]),
         count(row["n_claims"]),
         count(row["n_missing"]), row["reason"] or ""]
        for row in ordered.head(MOST_ROWS).iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_unit(), Column("stance", filtered=True, chosen=ALL), Column("characteristic", filtered=True),
               Column("Spearman’s ρ", True), Column("p (ρ)", True), Column("p, Holm", True), Column("p, BH", True),
               Column("Pearson’s r", True), Column("p (r)", True), Column("p, Holm (r)", True),
               Column("pairs", True), Column("claims", True), Column("missing", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, ordered.height - len(rows))


def composition_table(study: ClaimsStudy) -> Table:
    """Pairs of each set of claims by stance and relevance."""
    relevance = {True: "yes", False: "no", None: "not said"}
    rows = [
        [row["claims"], row["stance"] or "none", relevance[row["relevant"]], count(row["n"]), count(row["n_claims"]),
         share(row["share"])]
        for row in study.composition.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("claims", filtered=True), Column("stance", filtered=True), Column("relevant", filtered=True),
               Column("pairs", True), Column("claims with it", True), Column("share of the set", True)]  # fmt: skip
    return Table(columns, rows)


def acu_means_table(study: ClaimsStudy) -> Table:
    """The mean of each characteristic in each set of claims."""
    rows = [
        [row["claims"], row["generator"] or "", row["template"] or "", row["characteristic"],
         with_interval(row["mean"], row["low"], row["high"]), count(row["n"]), count(row["n_claims"]),
         count(row["n_missing"]), row["reason"] or ""]
        for row in study.means.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_unit(), Column("characteristic", filtered=True), Column("mean", True), Column("pairs", True),
               Column("claims", True), Column("missing", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)


def word_token_table(study: ClaimsStudy) -> Table:
    """The tokens whose probabilities are summed for each word, and the engine that computed them."""
    rows = [
        [claims, generator, word, ", ".join(f"{token['text']!r} ({token['id']})" for token in tokens),
         "yes" if all(token["whole"] for token in tokens) else "not all",
         ", ".join(receipt["prompts"]["engines"]), receipt["prompts"]["fingerprint"]]
        for (claims, generator), receipt in study.receipts.items()
        for word, tokens in receipt["words"].items()
    ]  # fmt: skip
    columns = [Column("claims", filtered=True), Column("generator", filtered=True), Column("word"),
               Column("first tokens (id)"), Column("whole word"), Column("engine"),
               Column("fingerprint")]  # fmt: skip
    return Table(columns, rows)


def _unit() -> list[Column]:
    return [Column(name, filtered=True) for name in ("claims", "generator", "template")]


def _part(value: float) -> str:
    return share(value) if value >= 0.01 else f"{100 * value:.2g}%"
