"""Build the page's table of context use: was the context good, and did the answer use it?"""

from ragrelay.analysis.context_use_split import ALL, GROUP_WORDS, GROUPS
from ragrelay.report.display.numbers import count, number, p_value, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.display.tables import Column, Table


def used_table(section: Section) -> Table:
    """Build the table of each cell's context use, with mean utility split by context quality (good or poor) and use."""
    rows = [
        [row["retriever"], row["ordering"], str(row["k"]), row["references"], count(row["n"]), count(row["n_null"]),
         number(row["mean_context_use"]), number(row["mean_text_change"], 2),
         with_interval(row["rho"], row["low"], row["high"], 2), p_value(row["p_value"]),
         *(f"{number(row[f'utility_{group}'])} ({count(row[f'n_{group}'])})" for group in GROUPS),
         row["reason"] or ""]
        for row in section.rows("context_use").iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("retriever", filtered=True, chosen=ALL), Column("ordering", filtered=True),
               Column("k", True, True), Column("references", filtered=True), Column("queries", True),
               Column("without a value", True), Column("context use (nats per token)", True),
               Column("text change", True), Column("ρ with utility", True), Column("p (ρ)", True),
               *(Column(f"U {GROUP_WORDS[group]} (queries)", True) for group in GROUPS), Column("remark")]  # fmt: skip
    return Table(columns, rows)
