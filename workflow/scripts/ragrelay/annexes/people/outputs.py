"""Register the tables and the figure of people's scores, of each dataset."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.people"
COMPARED = "{dataset}/people"
PEOPLE = Scope("people", ("dataset",), "draw_people")
RESULT_TABLES = (
    ResultTable("people_estimates", f"{COMPARED}/people_estimates.csv", "compare_people",
                f"{MODULE}.estimates:COLUMNS",
                "people's mean score of all answers, its gain and differences, from people's scores of some answers "
                "and a scorer's of all", "people"),
    ResultTable("people_agreement", f"{COMPARED}/people_agreement.csv", "compare_people",
                f"{MODULE}.following:AGREEMENT_COLUMNS",
                "how each scorer follows people, over answers and over systems, and with what bias", "people"),
    ResultTable("people_comparisons", f"{COMPARED}/people_comparisons.csv", "compare_people",
                f"{MODULE}.following:COMPARISON_COLUMNS", "which of two scorers follows people better", "people"),
    ResultTable("assessors", f"{COMPARED}/assessors.csv", "compare_people", f"{MODULE}.assessors:COLUMNS",
                "how several people agree on the answers that they scored", "people"),
)  # fmt: skip
PARTS = {
    "estimates": Part("What people would say of all answers"),
    "following": Part("Which scorer follows people"),
}
OUTPUTS: tuple[Output, ...] = (
    Table(
        "people_estimates", PEOPLE, ("people_estimates",),
        "People’s mean scores of all answers, with the help of a scorer", "", "estimates",
        f"{MODULE}.page_tables:estimate_table", {},
        note="Prediction-powered: people’s scores of some answers and the scorer’s of all. Width: of the interval, "
        "over that of people’s scores alone. Times as many: so many times as many scores by people give this width "
        "without the scorer. Verdicts and p-values are those of one comparison, uncorrected. People alone: a gain or "
        "difference is between means over all scored answers, not paired by query.",
        limited=True,
    ),
    Figure(
        "people_agreement", PEOPLE, f"{MODULE}.figures:agreement_figure", ("people_agreement",), "following",
        "Agreement of scorers with people",
        "Agreement of each scorer with people: over answers (ρ) and over systems (τ and τ_AP); bars are 95% intervals.",
        "Bars are 95% intervals: of ρ over queries, of τ and τ_AP over pairs of generator and retriever, from 16 on. "
        "People’s few scores of a system are noisy, which lowers τ and τ_AP.",
    ),
    Table(
        "people_agreement", PEOPLE, ("people_agreement",), "Agreement of scorers with people, and their biases", "",
        "following", f"{MODULE}.page_tables:agreement_table", {},
        note="Biases are in standard deviations of scores: by how much more than people the scorer favours an answer "
        "of twice as many words, or a generator’s answers.",
        limited=True,
    ),
    Table(
        "people_comparisons", PEOPLE, ("people_comparisons",), "Which of two scorers follows people better", "",
        "following", f"{MODULE}.page_tables:comparison_table", {},
        note="Paired: over the same answers, or the same systems. p-values are uncorrected. Of two scorers whose "
        "correlations with people are .8 and .5, 16 systems told in fewer than 4 of 10 simulated studies.",
        limited=True,
    ),
    Table(
        "assessors", PEOPLE, ("assessors",), "Agreement of several people", "", "following",
        f"{MODULE}.page_tables:assessor_table", {}, limited=True,
    ),
)  # fmt: skip
"""In the order of the page."""
