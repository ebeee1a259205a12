"""Write the tables of correlations and significance tests as LaTeX tables that can span several pages."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polars as pl

from ragrelay.base.vocabulary.columns import CELL
from ragrelay.report.display.numbers import count, p_value, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.figures_by_k import COEFFICIENTS
from ragrelay.report.latex import escape, in_latex, line
from ragrelay.report.table1 import UNSEEN_NOTE
from ragrelay.report.transmission_tables import wide_correlation

Row = dict[str, Any]
NAMES = {"pearson": "Pearson's $r$", "spearman": r"Spearman's $\rho$", "kendall": r"Kendall's $\tau_b$"}


def correlation_latex(section: Section, unseen: bool = False) -> str:
    """Write a LaTeX table of each cell's r, rho and tau-b over all queries, with 95% intervals, p-values and n."""
    frame = _of(wide_correlation(section), section, unseen).filter(pl.col("subset") == "all")
    several = frame["measure"].n_unique() > 1
    columns: dict[str, Callable[[Row], str]] = {"$n$": lambda row: count(row["n"])}
    for name in COEFFICIENTS:
        columns[NAMES[name]] = _interval(name, f"{name}_low", f"{name}_high")
        columns[f"$p$ ({NAMES[name].split()[1]})"] = _p(f"{name}_p_value")
    caption = (
        f"Correlation over queries of {escape(_measures(frame))} with utility, with 95\\% intervals "
        f"({escape(section.title)}). The uncorrected $p$-values come from a different method than the intervals."
    )
    names = (*CELL, "measure") if several else CELL
    return _longtable(frame, names, columns, caption)


def significance_latex(section: Section, unseen: bool = False) -> str:
    """Write a LaTeX table of the paired tests behind † and ‡: differences, effect sizes, intervals and p-values."""
    frame = _of(section.rows("significance"), section, unseen)
    columns: dict[str, Callable[[Row], str]] = {
        "$n$": lambda row: count(row["n"]),
        "mean difference": _interval("mean_difference", "low", "high", 3),
        "$d_z$": _interval("d_z", "d_z_low", "d_z_high"),
        "$p$ ($t$)": _p("p_value"),
        "Holm": _p("p_holm"),
        "$p$ (Wilcoxon)": _p("p_wilcoxon"),
        "$p$ (permutation)": _p("p_permutation"),
    }
    caption = (
        f"Paired comparisons over queries ({escape(section.title)}): $^{{\\dagger}}$ against the reference retriever "
        "in descending order, $^{\\ddagger}$ descending against ascending. Brackets contain 95\\% intervals; Holm's "
        "correction is applied to the $t$-test's $p$, within mark, quantity and references."
    )
    if unseen:
        caption += f" For $^{{\\dagger}}$, {escape(UNSEEN_NOTE)}."
    return _longtable(frame, ("mark", "quantity", *CELL), columns, caption)


unseen_correlation_latex = partial(correlation_latex, unseen=True)
unseen_significance_latex = partial(significance_latex, unseen=True)


def _longtable(
    frame: pl.DataFrame, names: Sequence[str], columns: dict[str, Callable[[Row], str]], caption: str
) -> str:
    head = line([*(r"$k$" if name == "k" else name for name in names), *columns])
    body = []
    for row in frame.iter_rows(named=True):
        cells = [in_latex(row[name]) if name == "mark" else escape(str(row[name])) for name in names]
        shown = [in_latex(cell(row)) for cell in columns.values()]
        if row["reason"] is not None and all(cell == "--" for cell in shown[1:]):
            shown = [shown[0], rf"\multicolumn{{{len(shown) - 1}}}{{l}}{{{escape(row['reason'])}}}"]
        body.append(line([*cells, *shown]))
    return long_table("l" * len(names) + "r" * len(columns), caption, head, body)


def long_table(columns: str, caption: str, head: str, body: Sequence[str]) -> str:
    """Write a LaTeX ``longtable`` with column specification ``columns``, header row ``head`` and rows ``body``."""
    return "\n".join(
        [
            "% Needs \\usepackage[T1]{fontenc}, booktabs and longtable, and a page on its side.",
            r"\begingroup",
            r"\scriptsize",
            r"\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"\caption{{{caption}}} \\",
            r"\toprule",
            head,
            r"\midrule",
            r"\endfirsthead",
            r"\toprule",
            head,
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endlastfoot",
            *body,
            r"\end{longtable}",
            r"\endgroup",
            "",
        ]
    )


def _of(frame: pl.DataFrame, section: Section, unseen: bool) -> pl.DataFrame:
    """Return the rows of ``frame`` for the grades or for their unseen companions."""
    return frame.filter(pl.col("references").is_in(section.unseen if unseen else section.grades))


def _interval(value: str, low: str, high: str, digits: int = 2) -> Callable[[Row], str]:
    return lambda row: with_interval(row[value], row[low], row[high], digits)


def _p(name: str) -> Callable[[Row], str]:
    return lambda row: p_value(row[name])


def _measures(frame: pl.DataFrame) -> str:
    return ", ".join(f"{measure}@k" for measure in frame["measure"].unique(maintain_order=True))
