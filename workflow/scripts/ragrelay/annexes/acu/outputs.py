"""Register the tables and figures of the claims study."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

PAPER = "Hagström et al., ACL 2025"
CLAIMS = Scope("claims", (), "report_acu")
RESULT_TABLES = (
    ResultTable("acu_pairs", "acu/tables/pairs.csv", "analyse_acu", "ragrelay.annexes.acu.tables:PAIRS",
                "one row per claim and piece of evidence: probabilities, predictions, ACU and characteristics", "acu"),
    ResultTable("acu_usage", "acu/tables/usage.csv", "analyse_acu", "ragrelay.annexes.acu.usage:COLUMNS",
                "ACU and predictions by the evidence's stance", "acu"),
    ResultTable("acu_correlations", "acu/tables/correlations.csv", "analyse_acu",
                "ragrelay.annexes.acu.correlations:COLUMNS", "correlation between characteristics and ACU",
                "acu"),
    ResultTable("acu_composition", "acu/tables/composition.csv", "analyse_acu",
                "ragrelay.annexes.acu.datasets:COMPOSITION",
                "relevance and stance of the evidence in each set of claims", "acu"),
    ResultTable("acu_means", "acu/tables/characteristics.csv", "analyse_acu", "ragrelay.annexes.acu.datasets:MEANS",
                "mean characteristics of the evidence in each set of claims", "acu"),
)  # fmt: skip
PARTS = {
    "stances": Part("By stance of the evidence"),
    "characteristics": Part("Characteristics of the evidence"),
    "datasets": Part(
        "The sets of claims",
        "Characteristics of the evidence in each set of claims. Pairs without a stance are included here, but have no "
        "ACU.",
    ),
    "tokens": Part(
        "Tokens",
        "A word’s probability is the total probability of its first tokens (with and without a leading space) at the "
        "answer’s first position, from the softmax over the full vocabulary.",
    ),
}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "acu_usage", CLAIMS, "ragrelay.annexes.acu.figures:usage_by_stance", ("acu_usage",), "stances",
        f"Mean ACU by stance (Figure 3 of {PAPER})",
        f"Mean ACU by the evidence's stance, with 95% intervals over claims (Figure 3 of {PAPER}). Right of zero, the "
        "evidence moved the model in the direction of its stance.",
        "Bars are 95% intervals over claims. Right of zero, the evidence moved the model in the direction of its "
        "stance.",
    ),
    Table(
        "acu_stances", CLAIMS, ("acu_usage",), "Context use by the evidence’s stance, with intervals over claims", "",
        "stances", "ragrelay.annexes.acu.page_tables:usage_table", {},
        note="Δ is the mean change in a word’s probability, as a share of the largest possible change. Memory "
             "conflict: without evidence, the model says True or False, and the evidence leans the other way. "
             "Switched: the evidence changes the likeliest word. Followed: with the evidence, the likeliest word is "
             "the word that the stance implies (None if the evidence neither supports nor refutes the claim).",
    ),
    Table(
        "acu_said", CLAIMS, ("acu_usage",), "Predictions without the evidence → with it", "", "stances",
        "ragrelay.annexes.acu.page_tables:said_table", {},
    ),
    Figure(
        "acu_correlations", CLAIMS, "ragrelay.annexes.acu.figures:correlation_by_stance", ("acu_correlations",),
        "characteristics",
        f"Correlation of characteristics with ACU, by stance (Figure 4 of {PAPER})",
        f"Spearman's correlation between the evidence's characteristics and ACU, by stance (Figure 4 of {PAPER}). A "
        "star marks p < 0.05 after Holm's correction for the number of characteristics.",
        "A star marks p < 0.05 after Holm’s correction for the number of characteristics. A cell is empty if there are "
        "too few pairs, or if the characteristic is constant or unknown; the table gives the reason.",
    ),
    Table(
        "acu_characteristics", CLAIMS, ("acu_correlations",),
        "Correlation between the evidence’s characteristics and ACU", "", "characteristics",
        "ragrelay.annexes.acu.page_tables:acu_correlation_table", {},
    ),
    Table(
        "acu_composition", CLAIMS, ("acu_composition",), f"Relevance and stance (Tables 8 and 9 of {PAPER})", "",
        "datasets", "ragrelay.annexes.acu.page_tables:composition_table", {},
    ),
    Figure(
        "acu_datasets", CLAIMS, "ragrelay.annexes.acu.figures:means_by_dataset", ("acu_means",), "datasets",
        f"Characteristics of the sets of claims (Figure 2 of {PAPER})",
        f"Mean characteristics of the evidence by set of claims, with 95% intervals over claims (Figure 2 of {PAPER}). "
        "If a characteristic is true or false, its mean is the share of true values.",
        "Bars are 95% intervals over claims. The mean of a true-or-false characteristic is its share of true values.",
    ),
    Table(
        "acu_means", CLAIMS, ("acu_means",), "Mean characteristics by set of claims", "", "datasets",
        "ragrelay.annexes.acu.page_tables:acu_means_table", {},
    ),
    Table(
        "acu_tokens", CLAIMS, ("acu_usage",), "Tokens that represent the words", "", "tokens",
        "ragrelay.annexes.acu.page_tables:word_token_table", {},
    ),
)  # fmt: skip
"""A claims study's tables and figures, in the order in which the page shows them."""
