"""All figures and tables, including the annexes', and the result tables that they are made from.

Jobs that draw or write only core outputs import ``report.outputs``, so they do not depend on annexes.
"""

from ragrelay.base.annex import annexes
from ragrelay.report import outputs
from ragrelay.report.display.outputs import Output, ResultTable

RESULT_TABLES: dict[str, ResultTable] = {
    **outputs.RESULT_TABLES,
    **{table.name: table for annex in annexes() for table in annex.result_tables},
}
OUTPUTS: tuple[Output, ...] = (*outputs.OUTPUTS, *(output for annex in annexes() for output in annex.outputs))
"""In the order of the documentation."""
