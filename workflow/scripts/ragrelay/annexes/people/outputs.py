"""Register the tables and the figure about human scores (one set per dataset)."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.people"
COMPARED = "{dataset}/people"
PEOPLE = Scope("people", ("dataset",), "draw_people")
RESULT_TABLES = (
    ResultTable("people_estimates", f"{COMPARED}/people_estimates.csv", "compare_people",
                f"{MODULE}.estimates:COLUMNS",
                "mean human scores, gains and differences over all answers, estimated from human scores for some "
                "answers and a scorer's scores for all answers", "people"),
    ResultTable("people_agreement", f"{COMPARED}/people_agreement.csv", "compare_people",
                f"{MODULE}.following:AGREEMENT_COLUMNS",
                "each scorer's agreement with human scores, over answers and over systems, and each scorer's biases",
                "people"),
    ResultTable("people_comparisons", f"{COMPARED}/people_comparisons.csv", "compare_people",
                f"{MODULE}.following:COMPARISON_COLUMNS", "which of two scorers agrees more closely with human "
                    "scores", "people"),
    ResultTable("assessors", f"{COMPARED}/assessors.csv", "compare_people", f"{MODULE}.assessors:COLUMNS",
                "how closely several people agree on the answers that they scored", "people"),
)  # fmt: skip
PARTS = {
    "estimates": Part("Estimated human scores of all answers"),
    "following": Part("Which scorer agrees best with people"),
}
OUTPUTS: tuple[Output, ...] = (
    Table(
        "people_estimates", PEOPLE, ("people_estimates",),
        "Mean human scores of all answers, estimated with a scorer’s help", "", "estimates",
        f"{MODULE}.page_tables:estimate_table", {},
        note="The estimates are prediction-powered: they combine human scores of some answers with the scorer’s scores "
             "of all answers. Width: the interval’s width, divided by the width from human scores alone. Times as "
             "many: how many times as many human scores would give this width without the scorer. Verdicts and "
             "p-values are uncorrected: each is for a single comparison. Human scores alone: a gain or difference "
             "compares means over all scored answers, not paired by query.",
        limited=True,
    ),
    Figure(
        "people_agreement", PEOPLE, f"{MODULE}.figures:agreement_figure", ("people_agreement",), "following",
        "Agreement between scorers and people",
        "Agreement between each scorer and people, over answers (ρ) and over systems (τ and τ_AP). Bars are 95% "
        "intervals.",
        "Bars are 95% intervals: for ρ over queries, for τ and τ_AP over pairs of generator and retriever if there are "
        "at least 16 pairs. With few human scores, a system’s mean is noisy, which lowers τ and τ_AP.",
    ),
    Table(
        "people_agreement", PEOPLE, ("people_agreement",), "Agreement between scorers and people, and the scorers’ "
                                                           "biases", "",
        "following", f"{MODULE}.page_tables:agreement_table", {},
        note="Biases are in standard deviations of the scores: how much more than people the scorer favours an answer "
             "with twice as many words, or the answers from one generator.",
        limited=True,
    ),
    Table(
        "people_comparisons", PEOPLE, ("people_comparisons",), "Which of two scorers agrees better with people", "",
        "following", f"{MODULE}.page_tables:comparison_table", {},
        note="Comparisons are paired, over the same answers or the same systems. p-values are uncorrected. With 16 "
             "systems, fewer than 4 in 10 simulated studies could tell apart two scorers whose correlations with human "
             "scores are .8 and .5.",
        limited=True,
    ),
    Table(
        "assessors", PEOPLE, ("assessors",), "Agreement between assessors", "", "following",
        f"{MODULE}.page_tables:assessor_table", {}, limited=True,
    ),
)  # fmt: skip
"""The tables and the figure on human scores, in the order in which the page shows them."""
