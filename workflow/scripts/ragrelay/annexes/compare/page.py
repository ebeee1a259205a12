"""Render the page that compares each study with the first, query by query."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import BETTER, WORSE
from ragrelay.annexes.compare.compared import Compared, SideStudy
from ragrelay.annexes.compare.differences import EQUAL, Group, differences, provenance
from ragrelay.annexes.compare.findings import cell_shown_first, comparison_answer, comparison_sentences, shown_first
from ragrelay.annexes.compare.outputs import OUTPUTS, PARTS
from ragrelay.annexes.compare.paired import DECIDES, STILL
from ragrelay.report.display.numbers import MISSING, counted, listing, with_interval
from ragrelay.report.display.outputs import Figure, Table
from ragrelay.report.display.page import Page
from ragrelay.report.display.templates import FOLDER, inside

TEMPLATE = Path(__file__).with_name("templates") / "compare.html.j2"
MOST_ANSWERS = 3
MOST_ROWS = 3_000
MOST_POINTS = 20_000
"""Maximum number of points on the page, shared by all its figures, so that the page stays below 10 MB."""


def render(sides: Sequence[SideStudy], pairs: Sequence[Compared], template: Path = TEMPLATE) -> str:
    """Render the comparison of ``sides`` (the first study, then the others), with figures and tests from ``pairs``."""
    before, *others = sides
    names, several = [side.label for side in others], len(others) > 1
    titles = [f"{part.label}: {part.pair.title}" if several else part.pair.title for part in pairs]
    answers = [comparison_answer(part, before.label, part.label) for part in pairs]
    if several:
        answers = [answer._replace(topic=title) for answer, title in zip(answers, titles, strict=True)]
    retrievers = {name: look for part in pairs for name, look in part.looks.items()}
    title = f"{before.label} → {', '.join(names)}"
    question = f"What changed from {before.label} to {listing(names)}?"
    most = MOST_ANSWERS if not several else len(pairs)
    notices = _seed_notices([(side.label, sorted(side.study.grid["seeds"])) for side in sides])
    page = Page(title, question, answers[:most], {"main": title}, notices, "../..", retrievers=retrievers)
    limits = {Figure: MOST_POINTS // len(pairs), Table: MOST_ROWS // len(pairs)}
    shown = [
        {
            "anchor": f"s{place}",
            "title": titles[place - 1],
            "findings": comparison_sentences(part),
            "parts": page.parts(part, OUTPUTS, PARTS, f"s{place}", limits, {"after": part.label, "of": of}),
        }
        for place, part in enumerate(pairs, 1)
        for of in [f"; {titles[place - 1]}" if len(pairs) > 1 else ""]
    ]
    groups = differences(sides)
    roles = ["baseline", *[""] * len(others)] if several else ["before", "after"]
    return page.html(
        template,
        own_style=inside(FOLDER, "studies.css") + (inside(template.parent, "several.css") if several else ""),
        several=several,
        sides=[{"label": side.label, "role": role} for side, role in zip(sides, roles, strict=True)],
        differences=groups,
        equal=[said for heading, said in EQUAL.items() if heading not in {group.heading for group in groups}],
        changes=_changes(sides, pairs) if several else (),
        told=_told(sides),
        provenance=provenance(sides),
        pairs=shown,
    )


def _seed_notices(sides: Sequence[tuple[str, Sequence[int]]]) -> list[str]:
    """Return a notice for each study whose seeds differ from the first study's; ``sides``: labels and seeds."""
    over = [f"over {counted(len(seeds), 'seed')} ({listing([*map(str, seeds)])}) in {label}" for label, seeds in sides]
    return [
        f"P is a mean {over[place]} but {over[0]}. Answers are sampled, so this difference alone changes P."
        for place, (_, seeds) in enumerate(sides)
        if seeds != sides[0][1]
    ]


def _changes(sides: Sequence[SideStudy], pairs: Sequence[Compared]) -> list[Group]:
    """Return the mean change in P in the cell shown first, with a column per study and a row per retriever."""
    found: dict[str, dict[tuple[str, str], str]] = {}
    for part in pairs:
        cells = found.setdefault(f"{part.pair.to(0).title}; {shown_first(part)}", {})
        for row in cell_shown_first(part).filter(quantity=DECIDES).iter_rows(named=True):
            cells[row["retriever"], part.label] = _said(row)
    return [
        Group(heading, [(name, [cells.get((name, side.label), MISSING) for side in sides])
                        for name in dict.fromkeys(name for name, _ in cells)])
        for heading, cells in found.items()
    ]  # fmt: skip


def _told(sides: Sequence[SideStudy]) -> list[Group]:
    """Return each study's own answers from its facts.json, a row per topic, for every pair of the first study."""
    groups = []
    for pair in sides[0].pairs:
        cells: dict[str, list[str]] = {}
        for place, side in enumerate(sides):
            own = [each for each in side.pairs if each.to(0) == pair]
            names = [(each.dataset[1], each.generator[1], each.scorer[1]) for each in own]
            for section in side.study.facts.get("sections", []):
                if (section["dataset"], section["generator"], section["scorer"]) in names:
                    for answer in section["answers"]:
                        cells.setdefault(answer["topic"], [MISSING] * len(sides))[place] = answer["sentence"]
        groups += [Group(pair.title, list(cells.items()))] if cells else []
    return groups


def _said(row: Mapping[str, Any]) -> str:
    if row["mean_difference"] is None:
        return MISSING
    if row["reason"] == STILL:
        return STILL
    falls = row["verdict"] in (BETTER, WORSE) and row["p_holm"] >= ALPHA
    undone = ", undecided after Holm’s correction over all studies" if falls else ""
    return f"{with_interval(row['mean_difference'], row['low'], row['high'])}: {row['verdict']}{undone}"
