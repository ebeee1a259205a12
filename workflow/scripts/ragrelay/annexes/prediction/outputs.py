"""Register the predictions' tables and figure, for each dataset, generator and scorer."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.prediction"
ANALYSIS = "{dataset}/analysis/{scorer}/{generator}"
PREDICTION = Scope("prediction", ("dataset", "generator", "scorer"), "report_predictions")
RESULT_TABLES = (
    ResultTable("prediction_correlation", f"{ANALYSIS}/prediction_correlation.csv", "evaluate_predictions",
                f"{MODULE}.correlations:COLUMNS", "correlation over queries between predictors and their targets"),
    ResultTable("prediction_best", f"{ANALYSIS}/prediction_best.csv", "evaluate_predictions", f"{MODULE}.best:COLUMNS",
                "each cell's best predictor, compared with the best of equally many predictors by chance"),
    ResultTable("prediction_given_p0", f"{ANALYSIS}/prediction_given_p0.csv", "evaluate_predictions",
                f"{MODULE}.correlations:GIVEN_P0", "partial correlation between predictors and P given P₀"),
    ResultTable("prediction_within", f"{ANALYSIS}/prediction_within.csv", "evaluate_predictions",
                f"{MODULE}.correlations:WITHIN", "correlation between predictors and P over the contexts of one query"),
    ResultTable("prediction_accuracy", f"{ANALYSIS}/prediction_accuracy.csv", "evaluate_predictions",
                f"{MODULE}.accuracy:COLUMNS", "AUROC and sMARE of predictors"),
    ResultTable("prediction_comparison", f"{ANALYSIS}/prediction_comparison.csv", "evaluate_predictions",
                f"{MODULE}.accuracy:COMPARED_COLUMNS",
                "predictors compared with the best predictor and with the retrieval measure"),
    ResultTable("prediction_ensembles", f"{ANALYSIS}/prediction_ensembles.csv", "evaluate_predictions",
                f"{MODULE}.ensembles:COLUMNS",
                "predictors combined by regression, with nested cross-validation over queries"),
    ResultTable("prediction_transfer", f"{ANALYSIS}/prediction_transfer.csv", "transfer_predictions",
                f"{MODULE}.transfer:COLUMNS", "predictors combined by regression, tested on another dataset"),
    ResultTable("prediction_curve", f"{ANALYSIS}/prediction_curve.csv", "evaluate_predictions",
                f"{MODULE}.decisions:CURVE_COLUMNS", "mean P against the share of queries that use their context"),
    ResultTable("prediction_policies", f"{ANALYSIS}/prediction_policies.csv", "evaluate_predictions",
                f"{MODULE}.decisions:POLICIES_COLUMNS", "regret when context, k and retriever are chosen per query"),
)  # fmt: skip
PARTS = {
    "worth": Part(
        "Is a predictor worth using?",
        "The table has the predictor that follows the target best, and the best of as many predictors if the target is "
        "shuffled over queries. “Worth using” requires p < 0.05 by these shuffles, after Holm’s correction over "
        "retrievers and k; for the gain and the utility, which contain P₀, also for P given P₀. “Not beyond P₀”: only "
        "the first holds.",
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
        "prediction_best", PREDICTION, ("prediction_best",), "Each cell’s best predictor, and chance", "",
        "worth", f"{MODULE}.page_tables:best_table", {},
    ),
    Table(
        "prediction_correlation", PREDICTION,
        ("prediction_correlation", "prediction_given_p0", "prediction_accuracy"),
        "How well each predictor follows its target over queries", "", "predictors",
        f"{MODULE}.page_tables:predictor_table", {},
        note="ρ comes with 95% intervals and the p of a permutation test, before and after Holm’s correction over the "
             "predictors. AUROC: does the predictor separate queries that the context helps from the others (chance: "
             "0.5)? sMARE: the mean distance between ranks (chance: about 0.333). Both reverse a predictor’s sign "
             "where lower values are better, or where certainty without a context leaves less to gain; ρ doesn’t.",
        limited=True,
    ),
    Table(
        "prediction_ensembles", PREDICTION, ("prediction_ensembles",), "Regressions by nested cross-validation", "",
        "ensembles", f"{MODULE}.page_tables:ensemble_table", {},
        note="Before generation: only features that are known before the answer with context exists. The p and the "
             "interval come from permuting the target through the complete cross-validation, except for gradient "
             "boosting. R² below 0: worse than the mean of the fitted queries. The table uses the first reference set.",
    ),
    Table(
        "prediction_transfer", PREDICTION, ("prediction_transfer",), "Regressions trained on another dataset", "",
        "ensembles", f"{MODULE}.page_tables:transfer_table", {},
        note="Each regression is fitted on all queries of the other dataset, with the same retriever, ordering and k, "
             "and tested on this dataset’s queries. It uses predictors with values in both datasets, and each "
             "dataset’s first reference set.",
    ),
    Figure(
        "prediction_curve", PREDICTION, f"{MODULE}.figures:selective_retrieval", ("prediction_curve",), "decisions",
        "Selective retrieval: mean P against the share of queries that use their context",
        "Mean P over all queries against the share of queries that use their context, beginning with the best "
        "predictions; the other queries count with P₀. At the largest k.",
        "At the left no query uses its context, at the right all do. The oracle sorts by the gain itself; chance is "
        "the line between both ends.",
    ),
    Table(
        "prediction_policies", PREDICTION, ("prediction_policies",), "Regret when choosing per query", "", "decisions",
        f"{MODULE}.page_tables:policy_table", {},
        note="Regret is the oracle’s mean P minus the policy’s. The best fixed option is chosen on the same queries, "
             "which favours it.",
    ),
)  # fmt: skip
"""Outputs in the order of the page."""


def shown_outputs(several_datasets: bool) -> tuple[Output, ...]:
    """Return OUTPUTS, without the table that needs two datasets if there is only one."""
    return tuple(output for output in OUTPUTS if several_datasets or output.name != "prediction_transfer")
