"""Build a section's first screen: answers, a figure, a table, and warnings about interpreting the results."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.analysis.verdicts import TOO_FEW, UNDECIDED
from ragrelay.report.display.findings import would_undo
from ragrelay.report.display.numbers import count, counted, listing
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Difference, Facts
from ragrelay.report.lead_answers import answers
from ragrelay.report.lead_figure import lead_figure
from ragrelay.report.lead_table import table
from ragrelay.report.lead_warnings import warnings


def lead(facts: Facts, part: int, explored: bool, left_out: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """Return a section's first screen. ``part``: the section's index in the query explorer, counted from 1."""
    return {
        "answers": answers(facts), "scope": scope(facts.section), "looks": facts.section.looks,
        "figure": lead_figure(facts, part, explored), "figure_title": figure_title(facts),
        "figure_remark": figure_remark(facts), "table": table(facts), "warnings": warnings(facts, left_out),
    }  # fmt: skip


def size(sections: Sequence[Section]) -> str:
    """Return a line with the study's size, such as `54 queries · 3 retrievers · k = 3 and 5`."""
    section = sections[0]
    n = max(section["utility"]["n"].drop_nulls(), default=0)
    designed = len(section.grid.retrievers) - len(section.rankings)
    oracles = f", {counted(designed, 'oracle')}" if designed else ""
    ks = listing([count(k) for k in section.grid.k])
    parts = {key: {each.keys[key] for each in sections} for key in section.keys}
    several = {key: counted(len(names), key) if len(names) > 1 else section.keys[key] for key, names in parts.items()}
    return " · ".join([
        several["dataset"] if len(parts["dataset"]) > 1 else counted(n, "query", "queries"),
        f"{counted(len(section.rankings), 'retriever')}{oracles}", f"k = {ks}",
        counted(len(section.grid.seeds), "seed"), f"{several['generator']}, scored by {several['scorer']}",
    ])  # fmt: skip


def scope(section: Section) -> str:
    """State which k, ordering and references are used on the first screen."""
    ordering, k, references, _ = section.lead.values()
    left = ", oracles excluded" if len(section.rankings) < len(section.grid.retrievers) else ""
    if section.primary and not {*section.primary[:2]} <= {*section.rankings}:
        left = ", oracles excluded except in the first answer"
    where = f"Unless stated otherwise: k = {count(k)}, {ordering} order, {references} references{left}"
    return f"{where}. Brackets contain 95% intervals."


def figure_title(facts: Facts) -> str:
    """State at which k one retriever of the primary pair is ahead, and at which k the comparison is undecided."""
    rows = [row for _, row in sorted(facts.pair_by_k.items())]
    ahead = {"{} is ahead": [row for row in rows if row.better], "{0} is ahead": [row for row in rows if row.worse]}
    parts = []
    for text, some in ahead.items():
        if some:
            name = some[0].retriever if some[0].better else some[0].against_retriever
            parts.append(f"{text.format(name)} at k = {_ks(some)}")
    if not parts:
        return "Answer quality P against k, the number of passages in the context"
    few = [row for row in rows if row.verdict == TOO_FEW]
    open_at = [row for row in rows if not row.better and not row.worse and row not in few]
    parts += [f"{UNDECIDED} at k = {_ks(open_at)}"] if open_at else []
    return "; ".join(parts + ([f"{TOO_FEW} at k = {_ks(few)}"] if few else []))


def figure_remark(facts: Facts) -> str:
    """State at which k one more query would overturn the primary pair's verdict, if there is any such k."""
    decided = [row for _, row in sorted(facts.pair_by_k.items()) if row.better or row.worse]
    fallen = [row for row in decided if row.stands is False]
    return would_undo(f"the verdict{'s' if len(fallen) > 1 else ''} at k = {_ks(fallen)}") if fallen else ""


def _ks(rows: Sequence[Difference]) -> str:
    return listing([count(row.k) for row in rows])
