"""Register the tables and the figure about thoughts (one set per dataset and reasoning generator)."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.thoughts"
DESCRIBED = "{dataset}/described/thoughts/{generator}"
THOUGHTS = Scope("thoughts", ("dataset", "generator"), "draw_thoughts")
RESULT_TABLES = (
    ResultTable("thoughts", f"{DESCRIBED}/thoughts.csv", "describe_thoughts", f"{MODULE}.lengths:COLUMNS",
                "the length of a generator's thoughts in tokens, and how they end", "thinking"),
    ResultTable("thought_differences", f"{DESCRIBED}/thought_differences.csv", "describe_thoughts",
                f"{MODULE}.lengths:DIFFERENCE_COLUMNS",
                "differences in tokens per thought from zero-shot and from another retriever, paired by query",
                "thinking"),
)  # fmt: skip
PARTS = {"thoughts": Part("Thought tokens by context")}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "thoughts", THOUGHTS, f"{MODULE}.figures:thoughts_by_k", ("thoughts",), "thoughts",
        "Thought length in tokens, against k",
        "Mean tokens per thought against k, with a line per retriever and a panel per ordering. Bars are 95% intervals "
        "over queries; the dotted line is for thoughts without context.",
        "There is a panel per ordering. Bars and the shaded band are 95% intervals over queries; the dotted line is "
        "for thoughts without context. Thoughts that were cut off or left unfinished count at the length they reached.",
    ),
    Table(
        "thought_differences", THOUGHTS, ("thought_differences",),
        "Thought tokens compared with no context and between retrievers", "", "thoughts",
        f"{MODULE}.page_tables:difference_table", {},
        note="Tests are paired by query. Verdicts follow from the uncorrected 95% interval; Holm’s correction covers "
             "all cells with the same comparison.",
        limited=True,
    ),
    Table(
        "thoughts", THOUGHTS, ("thoughts",), "Thought tokens in every cell, and how thoughts end", "", "thoughts",
        f"{MODULE}.page_tables:thought_table", {},
        note="Means are over queries, after averaging over seeds. If thoughts were cut off at the budget or left "
             "unfinished, means are lower bounds.",
        limited=True,
    ),
)  # fmt: skip
"""The figure and tables on thoughts, in the order in which the page shows them."""
