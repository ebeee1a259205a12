"""Register the tables and the figure on the prediction page."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.prediction"
ANALYSIS = "{dataset}/analysis/{scorer}/{generator}"
PREDICTION = Scope("prediction", ("dataset", "generator", "scorer"), "report_predictions")
RESULT_TABLES = (
    ResultTable("prediction_correlation", f"{ANALYSIS}/prediction_correlation.csv", "evaluate_predictions",
                f"{MODULE}.correlations:COLUMNS", "correlation over queries between predictors and their targets"),
    ResultTable("prediction_best", f"{ANALYSIS}/prediction_best.csv", "evaluate_predictions", f"{MODULE}.best:COLUMNS",
                "best predictor in each cell, compared with the best of an equal number of pure-noise predictors"),
    ResultTable("prediction_given_p0", f"{ANALYSIS}/prediction_given_p0.csv", "evaluate_predictions",
                f"{MODULE}.correlations:GIVEN_P0", "partial correlation between predictors and P given P₀"),
    ResultTable("prediction_within", f"{ANALYSIS}/prediction_within.csv", "evaluate_predictions",
                f"{MODULE}.correlations:WITHIN", "correlation within queries between predictors and P"),
    ResultTable("prediction_accuracy", f"{ANALYSIS}/prediction_accuracy.csv", "evaluate_predictions",
                f"{MODULE}.accuracy:COLUMNS", "AUROC and sMARE of predictors"),
    ResultTable("prediction_comparison", f"{ANALYSIS}/prediction_comparison.csv", "evaluate_predictions",
                f"{MODULE}.accuracy:COMPARED_COLUMNS",
                "comparison of each predictor with the cell's best predictor and with the retrieval measure"),
    ResultTable("prediction_ensembles", f"{ANALYSIS}/prediction_ensembles.csv", "evaluate_predictions",
                f"{MODULE}.ensembles:COLUMNS",
                "regressions that combine predictors, evaluated by nested cross-validation over queries"),
    ResultTable("prediction_transfer", f"{ANALYSIS}/prediction_transfer.csv", "transfer_predictions",
                f"{MODULE}.transfer:COLUMNS", "regressions fitted on another dataset and tested on this one"),
    ResultTable("prediction_curve", f"{ANALYSIS}/prediction_curve.csv", "evaluate_predictions",
                f"{MODULE}.decisions:CURVE_COLUMNS", "mean P against the share of queries that use their context"),
    ResultTable("prediction_policies", f"{ANALYSIS}/prediction_policies.csv", "evaluate_predictions",
                f"{MODULE}.decisions:POLICIES_COLUMNS", "regret of choosing context, k or retriever for each query"),
)  # fmt: skip
PARTS = {
    "worth": Part(
        "Is a predictor worth using?",
        "For each cell, the table shows the predictor that correlates best with the target, and the mean of the best "
        "correlation that the same number of predictors reach if the target is shuffled over queries. “Worth using” "
        "means p < 0.05 in this test, after Holm’s correction over retrievers and k. Gain and utility contain P₀, so "
        "their predictors must also pass the test of P given P₀; “not beyond P₀” means that they don’t.",
    ),
    "predictors": Part("Every predictor"),
    "ensembles": Part(
        "Predictors combined",
        "Each query’s prediction comes from a model that was fitted and tuned on other queries.",
    ),
    "decisions": Part("Using the predictions"),
}
OUTPUTS: tuple[Output, ...] = (
    Table(
        "prediction_best", PREDICTION, ("prediction_best",), "Each cell’s best predictor, compared with chance", "",
        "worth", f"{MODULE}.page_tables:best_table", {},
    ),
    Table(
        "prediction_correlation", PREDICTION,
        ("prediction_correlation", "prediction_given_p0", "prediction_accuracy"),
        "Correlation between each predictor and its target over queries", "", "predictors",
        f"{MODULE}.page_tables:predictor_table", {},
        note="ρ is shown with 95% intervals and the p-values of a permutation test, before and after Holm’s correction "
             "over the predictors. AUROC measures how well a predictor separates queries that the context helps from "
             "other queries (chance: 0.5); sMARE is the mean distance between ranks (chance: about 0.333). For AUROC "
             "and sMARE, a predictor’s sign is reversed if lower values predict a higher target (certainty without a "
             "context, for example, leaves less to gain); for ρ, signs are unchanged.",
        limited=True,
    ),
    Table(
        "prediction_ensembles", PREDICTION, ("prediction_ensembles",), "Regressions, by nested cross-validation", "",
        "ensembles", f"{MODULE}.page_tables:ensemble_table", {},
        note="“Before generation” uses only predictors available before the answer with context is generated. Except "
             "for gradient boosting, p and the interval come from repeating the complete cross-validation with the "
             "target permuted. If R² is below 0, predicting the training queries’ mean would be better. The table uses "
             "the first reference set.",
    ),
    Table(
        "prediction_transfer", PREDICTION, ("prediction_transfer",), "Regressions trained on another dataset", "",
        "ensembles", f"{MODULE}.page_tables:transfer_table", {},
        note="Each regression is fitted on all queries of the other dataset, with the same retriever, ordering and k, "
             "and tested on this dataset’s queries. It uses the predictors that have values in both datasets, and the "
             "first reference set of each.",
    ),
    Figure(
        "prediction_curve", PREDICTION, f"{MODULE}.figures:selective_retrieval", ("prediction_curve",), "decisions",
        "Selective retrieval: mean P against the share of queries that use their context",
        "Mean P over all queries against the share of queries that use their context, at the largest k. Queries with "
        "the best predictions use their context first; the other queries’ P is P₀.",
        "At the left end, no query uses its context; at the right end, all do. The oracle sorts queries by actual "
        "gain; chance is the straight line between the two ends.",
    ),
    Table(
        "prediction_policies", PREDICTION, ("prediction_policies",), "Regret of choices per query", "", "decisions",
        f"{MODULE}.page_tables:policy_table", {},
        note="Regret is the oracle’s mean P minus the policy’s. The best fixed option is chosen on the same queries, "
             "which favours it.",
    ),
)  # fmt: skip
"""The tables and the figure on predictions, in the order in which the page shows them."""


def shown_outputs(several_datasets: bool) -> tuple[Output, ...]:
    """Return OUTPUTS. The transfer table is included only if there are several datasets."""
    return tuple(output for output in OUTPUTS if several_datasets or output.name != "prediction_transfer")
