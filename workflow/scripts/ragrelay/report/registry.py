"""Combine the figures, tables and result tables of the core and of all annexes.

Jobs that only draw or write the core's figures and tables import ``report.outputs``, to be independent of annexes.
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
