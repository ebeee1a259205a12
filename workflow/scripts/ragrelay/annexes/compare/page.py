"""Render the pages that compare studies: two, query by query, or several side by side, each with the first."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.compare.compared import Compared, SideStudy
from ragrelay.annexes.compare.differences import EQUAL, differences, provenance
from ragrelay.annexes.compare.findings import comparison_answer, comparison_sentences
from ragrelay.annexes.compare.outputs import OUTPUTS, PARTS
from ragrelay.annexes.compare.side_by_side import limits, sections
from ragrelay.annexes.compare.studies import common_references, tests_of, without_counterpart
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import listing
from ragrelay.report.display.outputs import Figure, Table
from ragrelay.report.display.page import Page
from ragrelay.report.display.palette import looks
from ragrelay.report.display.templates import FOLDER, inside

TEMPLATE = Path(__file__).with_name("templates") / "compare.html.j2"
MOST_ANSWERS = 3
MOST_ROWS = 3_000
MOST_POINTS = 20_000
"""Points on the page, divided among its pairs, so that it stays below 10 MB."""


def render_two(sides: Sequence[SideStudy], pairs: Sequence[Compared], template: Path = TEMPLATE) -> str:
    """Render the comparison of two studies as HTML, with figures and tests of each of ``pairs``."""
    before, after = sides
    answers = [comparison_answer(compared, before.label, after.label) for compared in pairs[:MOST_ANSWERS]]
    retrievers = {name: look for compared in pairs for name, look in compared.looks.items()}
    title, question = f"{before.label} → {after.label}", f"What changed from {before.label} to {after.label}?"
    page = Page(title, question, answers, {"main": title}, results="../..", retrievers=retrievers)
    most = {Figure: MOST_POINTS // len(pairs), Table: MOST_ROWS // len(pairs)}
    shown = [
        {
            "anchor": f"s{place}",
            "title": compared.pair.title,
            "findings": comparison_sentences(compared),
            "parts": page.parts(compared, OUTPUTS, PARTS, f"s{place}", most, {"after": after.label}),
        }
        for place, compared in enumerate(pairs, 1)
    ]
    return _html(page, template, sides, ("before", "after"), pairs=shown)


def render_several(sides: Sequence[SideStudy], rows: pl.DataFrame, template: Path = TEMPLATE) -> str:
    """Render several studies side by side. ``sides``: the baseline and the others; ``rows``: several.COLUMNS."""
    baseline, others = sides[0], sides[1:]
    names = [side.label for side in others]
    title = f"{baseline.label} → {', '.join(names)}"
    question = f"What do {listing(names)} change against {baseline.label}?"
    answers = [_answer(baseline, side) for side in others]
    retrievers = looks(baseline.study.grid["retrievers"])
    page = Page(title, question, answers, {"main": title}, results="../..", retrievers=retrievers)
    roles = ["baseline", *[""] * len(others)]
    return _html(page, template, sides, roles, sections=sections(sides, rows), limits=limits(sides, rows))


def _html(page: Page, template: Path, sides: Sequence[SideStudy], roles: Sequence[str], **shown: Any) -> str:
    several, groups = "limits" in shown, differences(sides)
    columns = [
        {"label": side.label, "link": f"../{side.link}/index.html" if side.link else "", "role": role}
        for side, role in zip(sides, roles, strict=True)
    ]
    return page.html(
        template,
        own_style=inside(FOLDER, "studies.css") + (inside(template.parent, "several.css") if several else ""),
        several=several,
        sides=columns,
        differences=groups,
        equal=[said for heading, said in EQUAL.items() if heading not in {group.heading for group in groups}],
        provenance=provenance(sides),
        **{"pairs": (), "sections": (), "limits": (), **shown},
    )


def _answer(baseline: SideStudy, side: SideStudy) -> Conclusion:
    """Return the answer of the page that compares ``side`` with the baseline, on its first part."""
    pair, tests, queries = side.pairs[0], side.tests, side.queries
    assert tests is not None and queries is not None
    references = common_references(baseline.study, side.study, pair)
    left_out = without_counterpart(baseline.study, side.study, side.retrievers)
    shown = Compared(pair, references, {}, tests_of(pair, queries), tests_of(pair, tests), left_out)
    topic = f"{side.label}, {pair.title}" if len(side.pairs) > 1 else side.label
    return comparison_answer(shown, baseline.label, side.label)._replace(topic=topic)
