"""Build the prediction page's tables."""

import polars as pl

from ragrelay.annexes.prediction.accuracy import AUROC, SMARE
from ragrelay.annexes.prediction.cells import GAIN, KEYS, P
from ragrelay.annexes.prediction.correlations import GIVEN_P0
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.report.display.numbers import count, number, p_value
from ragrelay.report.display.tables import OF_CELL, REMARK, Column, Table, between, name, numeric, table_of, textual

OF_TARGET = (*OF_CELL, name("target", chosen=GAIN))
OF_MODEL = (
    *OF_TARGET,
    name("predictors available", "known"),
    name("model"),
    between("Spearman’s ρ", "rho", 2),
    numeric("p", "p_value", p_value),
)
SIZES = (numeric("predictors", "n_predictors", count), numeric("queries", "n", count), REMARK)


def best_table(study: PredictedStudy) -> Table:
    """Build the table with each cell's best predictor and the chance level."""
    return table_of(
        study["prediction_best"], *OF_TARGET, name("verdict"), name("predictor"), numeric("ρ", "rho", number, 2),
        numeric("best ρ by chance", "chance", number, 2), numeric("95% quantile", "chance_high", number, 2),
        numeric("p", "p_value", p_value), numeric("p, Holm", "p_holm", p_value),
        numeric("ρ given P₀", "given_p0", number, 2), numeric("p given P₀, Holm", "p_given_p0_holm", p_value), *SIZES,
    )  # fmt: skip


def predictor_table(study: PredictedStudy, most_rows: int | None = None) -> Table:
    """Build the table of predictors of P and gain, with rho, rho given P_0, AUROC and sMARE, sorted by |rho|."""
    keys = [*KEYS, "predictor"]
    shown = study["prediction_correlation"].filter(pl.col("target").is_in([P, GAIN]), coefficient="spearman")
    given_p0 = study["prediction_given_p0"].select(
        *(name for name in GIVEN_P0 if name in keys), pl.col("partial_rho").alias("given"), target=pl.lit(P)
    )
    wide = shown.join(given_p0, on=keys, how="left", maintain_order="left")
    for statistic in (AUROC, SMARE):
        values = study["prediction_accuracy"].filter(statistic=statistic)
        values = values.select(*keys, pl.col("value").alias(statistic))
        wide = wide.join(values, on=keys, how="left", maintain_order="left")
    ordered = wide.sort(pl.col("k") != study.k, pl.col("value").abs().fill_null(-1), descending=[False, True])
    return table_of(
        ordered, *OF_TARGET, name("predictor"), between("Spearman’s ρ", "value", 2),
        numeric("p (permutation)", "p_permutation", p_value), numeric("p, Holm", "p_permutation_holm", p_value),
        numeric("ρ given P₀", "given", number, 2), numeric("AUROC", AUROC, number, 2), numeric("sMARE", SMARE),
        numeric("queries", "n", count), REMARK, most=most_rows,
    )  # fmt: skip


def ensemble_table(study: PredictedStudy) -> Table:
    """Build the table of regressions evaluated by nested cross-validation."""
    return table_of(
        study["prediction_ensembles"], *OF_MODEL, numeric("ρ with P given P₀", "given_p0", number, 2),
        numeric("p given P₀", "p_given_p0", p_value), textual("verdict", "verdict"),
        numeric("R²", "r_squared", number, 2), *SIZES,
    )  # fmt: skip


def transfer_table(study: PredictedStudy) -> Table:
    """Build the table of regressions trained on another dataset."""
    trained = numeric("queries trained on", "n_trained", count)
    return table_of(
        study["prediction_transfer"], name("trained on", "trained_on"), *OF_MODEL, SIZES[0], trained, *SIZES[1:]
    )


def policy_table(study: PredictedStudy) -> Table:
    """Build the table with each policy's regret against the oracle."""
    return table_of(
        study["prediction_policies"], name("choice"),
        Column("retriever", False, True, text=lambda row: row["retriever"] or "chosen"),
        Column("k", False, True, text=lambda row: str(row["k"] or "chosen")),
        name("references"), name("policy"), numeric("mean P", "mean_p"), between("regret", "regret"),
        between("predicted − best fixed", "better_than_fixed", ends=("fixed_low", "fixed_high")),
        numeric("p", "fixed_p", p_value), *SIZES[1:],
    )  # fmt: skip
