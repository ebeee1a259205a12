"""Register the tables and figures for a comparison of studies."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

COMPARISON = Scope("comparison", (), "compare_studies")
RESULT_TABLES = (
    ResultTable("compared_tests", "compare/{studies}/tests.csv", "compare_studies",
                "ragrelay.annexes.compare.paired:COLUMNS",
                "paired tests of the changes for each cell and quantity", "compare"),
    ResultTable("compared_queries", "compare/{studies}/queries.csv", "compare_studies",
                "ragrelay.annexes.compare.studies:COLUMNS",
                "each query's values before and after, for each cell and quantity", "compare"),
)  # fmt: skip
PARTS = {
    "change": Part("What changed"),
    "moved": Part("Which queries changed"),
    "tests": Part(
        "Tests",
        "p-values are adjusted (Holm, Benjamini–Hochberg) within families. A family contains all tests of one "
        "quantity with one reference set, over all studies if there are several. Cells with the same prompts, such as "
        "all orderings at k = 1, count once. The verdict follows from “p, verdict”. Unseen references depend on the "
        "context, so P based on them can change even if the answer stays the same.",
    ),
}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "change", COMPARISON, "ragrelay.annexes.compare.figures:change_by_k", ("compared_tests",), "change",
        "Mean change against k", "",
        "There is a panel per ordering. Bars are 95% intervals over queries. Above zero, {after} is better.",
        endings=(),
    ),
    Figure(
        "queries", COMPARISON, "ragrelay.annexes.compare.figures:before_after", ("compared_queries",), "change",
        "Every query, before and after", "",
        "Queries on the dashed line didn’t change; above it, {after} is better.", limited=True, endings=(),
    ),
    Table(
        "moved", COMPARISON, ("compared_queries",),
        "Queries whose P changed, each in the cell with its largest change{of}", "", "moved",
        "ragrelay.annexes.compare.tables:moved_table", {}, limited=True,
    ),
    Table(
        "tests", COMPARISON, ("compared_tests",), "Paired tests of the change, per cell, over queries{of}", "",
        "tests", "ragrelay.annexes.compare.tables:test_table", {}, limited=True,
    ),
)  # fmt: skip
"""The comparison's outputs in the order in which its page shows them; none is a file of a study's report."""
