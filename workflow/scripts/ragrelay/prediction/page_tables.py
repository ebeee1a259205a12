"""The tables of predictions as the page shows them."""

from typing import Any

import polars as pl

from ragrelay.display.numbers import count, number, p_value, with_interval
from ragrelay.display.tables import OF_CELL, Column, Table, cell_values
from ragrelay.prediction.accuracy import AUROC, SMARE
from ragrelay.prediction.cells import GAIN, KEYS, P
from ragrelay.prediction.correlations import GIVEN_P0
from ragrelay.prediction.study import PredictedStudy


def best_table(study: PredictedStudy) -> Table:
    """The best predictor of each cell, next to what chance gives."""
    rows = [
        [*cell_values(row), row["target"], row["verdict"] or "", row["predictor"] or "", number(row["rho"], 2),
         number(row["chance"], 2), number(row["chance_high"], 2), p_value(row["p_value"]), p_value(row["p_holm"]),
         number(row["given_p0"], 2), p_value(row["p_given_p0_holm"]), count(row["n_predictors"]), count(row["n"]),
         row["reason"] or ""]
        for row in study["prediction_best"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [*OF_CELL, Column("target", filtered=True, chosen=GAIN), Column("verdict", filtered=True),
               Column("predictor", filtered=True), Column("ρ", True), Column("ρ of the best by chance", True),
               Column("its 95% quantile", True), Column("p", True), Column("p, Holm", True),
               Column("ρ given P₀", True), Column("p given P₀, Holm", True), Column("predictors", True),
               Column("queries", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)


def predictor_table(study: PredictedStudy, most_rows: int | None = None) -> Table:
    """Each predictor of P and of the gain in every cell: rho, rho given P_0, AUROC, sMARE; the largest |rho| first."""
    keys = [*KEYS, "predictor"]
    shown = study["prediction_correlation"].filter(pl.col("target").is_in([P, GAIN]), coefficient="spearman")
    given_p0 = study["prediction_given_p0"].select(
        *(name for name in GIVEN_P0 if name in keys), pl.col("partial_rho").alias("given"), target=pl.lit(P)
    )
    wide = shown.join(given_p0, on=keys, how="left", maintain_order="left")
    for name in (AUROC, SMARE):
        values = study["prediction_accuracy"].filter(statistic=name).select(*keys, pl.col("value").alias(name))
        wide = wide.join(values, on=keys, how="left", maintain_order="left")
    ordered = wide.sort(pl.col("k") != study.k, pl.col("value").abs().fill_null(-1), descending=[False, True])
    kept = ordered if most_rows is None else ordered.head(most_rows)
    rows = [_predictor_row(row) for row in kept.iter_rows(named=True)]
    columns = [*OF_CELL, Column("target", filtered=True, chosen=GAIN), Column("predictor", filtered=True),
               Column("Spearman’s ρ", True), Column("p (permutation)", True), Column("p, Holm", True),
               Column("ρ given P₀", True), Column("AUROC", True), Column("sMARE", True), Column("queries", True),
               Column("remark")]  # fmt: skip
    return Table(columns, rows, ordered.height - kept.height)


def _predictor_row(row: dict[str, Any]) -> list[str]:
    return [
        *cell_values(row), row["target"], row["predictor"], with_interval(row["value"], row["low"], row["high"], 2),
        p_value(row["p_permutation"]), p_value(row["p_permutation_holm"]), number(row["given"], 2),
        number(row[AUROC], 2), number(row[SMARE], 3), count(row["n"]), row["reason"] or "",
    ]  # fmt: skip


def ensemble_table(study: PredictedStudy) -> Table:
    """Show the regressions that nested cross-validation evaluated."""
    rows = [
        [*cell_values(row), row["target"], row["known"], row["model"],
         with_interval(row["rho"], row["low"], row["high"], 2), p_value(row["p_value"]), number(row["given_p0"], 2),
         p_value(row["p_given_p0"]), row["verdict"] or "", number(row["r_squared"], 2),
         count(row["n_predictors"]), count(row["n"]), row["reason"] or ""]
        for row in study["prediction_ensembles"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [*OF_CELL, Column("target", filtered=True, chosen=GAIN), Column("known", filtered=True),
               Column("model", filtered=True), Column("Spearman’s ρ", True), Column("p", True),
               Column("ρ with P given P₀", True), Column("p given P₀", True), Column("verdict"), Column("R²", True),
               Column("predictors", True), Column("queries", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)


def transfer_table(study: PredictedStudy) -> Table:
    """Regressions trained on another dataset."""
    rows = [
        [row["trained_on"], *cell_values(row), row["target"], row["known"], row["model"],
         with_interval(row["rho"], row["low"], row["high"], 2), p_value(row["p_value"]), count(row["n_predictors"]),
         count(row["n_trained"]), count(row["n"]), row["reason"] or ""]
        for row in study["prediction_transfer"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("trained on", filtered=True), *OF_CELL, Column("target", filtered=True, chosen=GAIN),
               Column("known", filtered=True), Column("model", filtered=True), Column("Spearman’s ρ", True),
               Column("p", True), Column("predictors", True), Column("queries trained on", True),
               Column("queries", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)


def policy_table(study: PredictedStudy) -> Table:
    """Regret of policies against the oracle."""
    rows = [
        [row["choice"], row["retriever"] or "chosen", "chosen" if row["k"] is None else str(row["k"]),
         row["references"], row["policy"], number(row["mean_p"]), with_interval(row["regret"], row["low"], row["high"]),
         with_interval(row["better_than_fixed"], row["fixed_low"], row["fixed_high"]), p_value(row["fixed_p"]),
         count(row["n"]), row["reason"] or ""]
        for row in study["prediction_policies"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("choice", filtered=True), Column("retriever", filtered=True), Column("k", filtered=True),
               Column("references", filtered=True), Column("policy", filtered=True), Column("mean P", True),
               Column("regret", True), Column("predicted less best fixed", True), Column("p", True),
               Column("queries", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)
