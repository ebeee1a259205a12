"""Register the table about the effects of processors (one table per dataset and generator)."""

from ragrelay.report.display.outputs import ResultTable

RESULT_TABLES = (
    ResultTable("processing", "{dataset}/described/processing/{generator}.csv", "describe_processing",
                "ragrelay.annexes.processing.effects:COLUMNS",
                "changes that processors made to the contexts at each k, and prompt tokens before and after",
                "processing"),
)  # fmt: skip
