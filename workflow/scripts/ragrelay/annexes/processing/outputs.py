"""Register the table of what processors did, of each dataset and generator."""

from ragrelay.report.display.outputs import ResultTable

RESULT_TABLES = (
    ResultTable("processing", "{dataset}/described/processing/{generator}.csv", "describe_processing",
                "ragrelay.annexes.processing.effects:COLUMNS",
                "what processors changed in the contexts of each k, and the prompts' tokens before and after",
                "processing"),
)  # fmt: skip
