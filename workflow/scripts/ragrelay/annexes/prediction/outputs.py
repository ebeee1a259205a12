"""What predictions add to the report: tables and a figure of each dataset, generator and scorer."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.prediction"
ANALYSIS = "{dataset}/analysis/{scorer}/{generator}"
PREDICTION = Scope("prediction", ("dataset", "generator", "scorer"), "report_predictions")
RESULT_TABLES = (
    ResultTable("prediction_correlation", f"{ANALYSIS}/prediction_correlation.csv", "evaluate_predictions",
                f"{MODULE}.correlations:COLUMNS", "correlation over queries of predictors with what they predict"),
    ResultTable("prediction_best", f"{ANALYSIS}/prediction_best.csv", "evaluate_predictions", f"{MODULE}.best:COLUMNS",
                "the best predictor of each cell, and what the best of as many has by chance"),
    ResultTable("prediction_given_p0", f"{ANALYSIS}/prediction_given_p0.csv", "evaluate_predictions",
                f"{MODULE}.correlations:GIVEN_P0", "partial correlation of predictors and P given P₀"),
    ResultTable("prediction_within", f"{ANALYSIS}/prediction_within.csv", "evaluate_predictions",
                f"{MODULE}.correlations:WITHIN", "predictors and P over the contexts of one query"),
    ResultTable("prediction_accuracy", f"{ANALYSIS}/prediction_accuracy.csv", "evaluate_predictions",
                f"{MODULE}.accuracy:COLUMNS", "AUROC and sMARE of predictors"),
    ResultTable("prediction_comparison", f"{ANALYSIS}/prediction_comparison.csv", "evaluate_predictions",
                f"{MODULE}.accuracy:COMPARED_COLUMNS",
                "predictors compared with the best and with the retrieval measure"),
    ResultTable("prediction_ensembles", f"{ANALYSIS}/prediction_ensembles.csv", "evaluate_predictions",
                f"{MODULE}.ensembles:COLUMNS",
                "predictors combined by regression, by nested cross-validation over queries"),
    ResultTable("prediction_transfer", f"{ANALYSIS}/prediction_transfer.csv", "transfer_predictions",
                f"{MODULE}.transfer:COLUMNS", "predictors combined by regression, tested on another dataset"),
    ResultTable("prediction_curve", f"{ANALYSIS}/prediction_curve.csv", "evaluate_predictions",
                f"{MODULE}.decisions:CURVE_COLUMNS", "mean P against the share of queries whose context is used"),
    ResultTable("prediction_policies", f"{ANALYSIS}/prediction_policies.csv", "evaluate_predictions",
                f"{MODULE}.decisions:POLICIES_COLUMNS", "regret of choosing context, k and retriever per query"),
)  # fmt: skip
PARTS = {
    "worth": Part(
        "Is a predictor worth using?",
        "The predictor that follows the target best, and the best of as many predictors where the target is shuffled "
        "over the queries. “Worth using”: p < 0.05 by these shuffles, after Holm’s correction over retrievers and k, "
        "and of the gain and the utility, which contain P₀, for P given P₀ too. “Not beyond P₀”: the first alone.",
    ),
    "predictors": Part("Every predictor"),
    "ensembles": Part(
        "Predictors combined",
        "Every query’s prediction is by a model that was fitted, and whose settings were chosen, on other queries.",
    ),
    "decisions": Part("What predictions are good for"),
}
OUTPUTS: tuple[Output, ...] = (
    Table(
        "prediction_best", PREDICTION, ("prediction_best",), "The best predictor of each cell, and chance", "",
        "worth", f"{MODULE}.page_tables:best_table", {},
    ),
    Table(
        "prediction_correlation", PREDICTION,
        ("prediction_correlation", "prediction_given_p0", "prediction_accuracy"),
        "How well each predictor follows its target over queries", "", "predictors",
        f"{MODULE}.page_tables:predictor_table", {},
        note="ρ with 95% intervals; p of a permutation test, then after Holm’s correction over the predictors. AUROC: "
        "does the predictor tell queries that the context helps from others (chance: 0.5)? sMARE: mean distance of "
        "ranks (chance: about 0.333). Both have the sign of predictors turned where less is better, or where "
        "certainty without a context leaves less to gain; ρ has not.",
        limited=True,
    ),
    Table(
        "prediction_ensembles", PREDICTION, ("prediction_ensembles",), "Regressions by nested cross-validation", "",
        "ensembles", f"{MODULE}.page_tables:ensemble_table", {},
        note="Before generation: with what is known before the answer to the context. p and interval: the target "
        "permuted through the whole cross-validation; not of gradient boosting. R² below 0: worse than the mean of the "
        "fitted queries. First reference set.",
    ),
    Table(
        "prediction_transfer", PREDICTION, ("prediction_transfer",), "Regressions trained on another dataset", "",
        "ensembles", f"{MODULE}.page_tables:transfer_table", {},
        note="Fitted on all queries of the other dataset, with the same retriever, ordering and k, and tested on those "
        "of this one. Predictors that need values in both datasets. First reference set of each.",
    ),
    Figure(
        "prediction_curve", PREDICTION, f"{MODULE}.figures:selective_retrieval", ("prediction_curve",), "decisions",
        "Selective retrieval: mean P against the share of queries whose context is used",
        "Mean P over all queries against the share of them whose context is used, those with the best prediction; P₀ "
        "counts for the others. At the largest k.",
        "At the left no context is used, at the right all are. The oracle follows the gain itself; chance is the line "
        "between both ends.",
    ),
    Table(
        "prediction_policies", PREDICTION, ("prediction_policies",), "Regret of choosing per query", "", "decisions",
        f"{MODULE}.page_tables:policy_table", {},
        note="Regret: mean P of the oracle less the policy’s. The best fixed option is chosen on the same queries, "
        "which favours it.",
    ),
)  # fmt: skip
"""Outputs in the order of the page."""


def shown_outputs(several_datasets: bool) -> tuple[Output, ...]:
    """OUTPUTS without the table that needs two datasets, where there is only one."""
    return tuple(output for output in OUTPUTS if several_datasets or output.name != "prediction_transfer")
