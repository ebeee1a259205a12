"""Declare the report's tables on context use."""

from ragrelay.report.display.outputs import ResultTable, Table

RESULT_TABLES = (
    ResultTable("context_use", "{dataset}/analysis/{scorer}/{generator}/context_use.csv", "split_utility",
                "ragrelay.analysis.context_use_split:COLUMNS",
                "utility by whether the context was good and whether it was used", "context_use"),
)  # fmt: skip
OUTPUTS = (
    Table(
        "context_use", "section", ("context_use",),
        "Context use of the answers, and mean utility by whether the context was good and used",
        "How much likelier the context makes the answer, and mean utility by whether the context was good and whether "
        "it was used.",
        "used", "ragrelay.report.context_use_page:used_table",
    ),
)  # fmt: skip
