"""Register the tables and figures about search rounds (one set per dataset, generator and scorer)."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.rounds"
ROUNDS = Scope("rounds", ("dataset", "generator", "scorer"), "draw_rounds")
RESULT_TABLES = (
    ResultTable("round_slopes", "{dataset}/analysis/{scorer}/{generator}/round_slopes.csv", "analyse_rounds",
                f"{MODULE}.tables:SLOPES", "relay at each step of the search and over all steps", "rounds"),
    ResultTable("round_scores", "{dataset}/analysis/{scorer}/{generator}/round_scores.csv", "analyse_rounds",
                f"{MODULE}.tables:SCORES", "P, ranked lists and tokens in each round, for each retriever whose list "
                    "was used in the round", "rounds"),
)  # fmt: skip
PARTS = {"rounds": Part("Steps and rounds")}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "rounds", ROUNDS, f"{MODULE}.figures:p_by_round", ("round_slopes", "round_scores"), "rounds", "P by round",
        "Mean P by round: a line for the reference retriever's lists, and points for other retrievers' lists in one "
        "round.",
        "The line shows the reference retriever’s lists; a point shows another retriever’s list in one round, after "
        "the reference’s lists in earlier rounds. Bars are 95% intervals over queries. From round 2 on, the points "
        "don’t show which retriever is better, because the reference’s lists repeat passages already shown.",
    ),
    Table(
        "round_slopes", ROUNDS, ("round_slopes", "round_scores"), "Relay at each step of the search", "", "rounds",
        f"{MODULE}.page_tables:slope_table", {},
        note="Adjusted slopes account for the query’s mean value of the measure over its lists, and for P before the "
             "step. Each step’s interval has level 1 − 5% / steps, so all steps’ intervals hold simultaneously.",
        limited=True,
    ),
    Table(
        "round_scores", ROUNDS, ("round_scores", "round_slopes"), "P, lists and tokens by round", "", "rounds",
        f"{MODULE}.page_tables:round_table", {},
        note="“Worse” and “better” count the queries whose P falls or rises compared with the previous round (with the "
             "reference’s lists). Repeated passages were shown earlier, or are near copies of such passages.",
        limited=True,
    ),
)  # fmt: skip
"""The figure and tables on search rounds, in the order in which the page shows them."""
