"""Render the page of a comparison, in the style of a study's page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragrelay.annexes.compare.compared import Compared
from ragrelay.annexes.compare.findings import comparison_answer, comparison_sentences
from ragrelay.annexes.compare.outputs import OUTPUTS, PARTS
from ragrelay.annexes.compare.studies import Finished, differences_of
from ragrelay.base.annex import annexes
from ragrelay.report.data_hashes import data_hashes
from ragrelay.report.display import tables
from ragrelay.report.display.outputs import Figure, Table, resolve
from ragrelay.report.display.page import Page
from ragrelay.report.display.templates import FOLDER

TEMPLATE = FOLDER / "compare.html.j2"
SCORING = ("torch", "transformers")
MOST_ANSWERS = 3
MOST_ROWS = 3_000
MOST_POINTS = 20_000
"""Points on the whole page, divided among its pairs, so that the page stays below 10 MB."""


def render(before: Finished, after: Finished, pairs: Sequence[Compared], template: Path = TEMPLATE) -> str:
    """Render the page as HTML."""
    name, question = f"{before.name} → {after.name}", f"What changed from {before.name} to {after.name}?"
    answers = [comparison_answer(compared, before.name, after.name) for compared in pairs[:MOST_ANSWERS]]
    retrievers = {name: look for compared in pairs for name, look in compared.looks.items()}
    page = Page(name, question, answers, {"main": name}, results="../..", retrievers=retrievers)
    most = {Figure: MOST_POINTS // len(pairs), Table: MOST_ROWS // len(pairs)}
    shown = [
        {
            "anchor": f"s{place}",
            "title": compared.pair.title,
            "findings": comparison_sentences(compared),
            "parts": page.parts(compared, OUTPUTS, PARTS, f"s{place}", most, {"after": after.name}),
        }
        for place, compared in enumerate(pairs, 1)
    ]
    data = [row for part in pairs for row in _data(before, after, part)]
    config = [row for row in differences_of(before.config, after.config) if row["key"] != "study"]
    return page.html(
        template,
        before=before,
        after=after,
        pairs=shown,
        config=tables.records_table("What differs in the configurations", config, ("key", "before", "after")),
        data=tables.records_table("What differs in the data", data, ("data", "before", "after")),
        about=tables.records_table("The two studies", [_about("before", before), _about("after", after)]),
    )


def _data(before: Finished, after: Finished, part: Compared) -> list[dict[str, str]]:
    """Return the kinds of data (queries, judgements, runs, …) that differ, with count and hash on each side."""
    of_annexes = [resolve(annex.hashes) for annex in annexes() if annex.hashes]
    sides = []
    for study, name in zip((before, after), part.pair.dataset, strict=True):
        sides.append(data_hashes(study.folder, name, study.config, of_annexes))
    rows = []
    for kind in dict.fromkeys([*sides[0], *sides[1]]):
        shown = [" ".join(str(value) for value in side.get(kind, {"": "–"}).values()) for side in sides]
        if shown[0] != shown[1]:
            rows.append({"data": f"{kind} of {part.pair.title}", "before": shown[0], "after": shown[1]})
    return rows


def _about(side: str, study: Finished) -> dict[str, Any]:
    versions = study.provenance.get("versions") or {}
    engines = {
        f"{about.get('engine')} {about.get('version')} on {about.get('device')}"
        for about in (study.provenance.get("generators") or {}).values()
    }
    fingerprints = [about.get("fingerprint") for about in (study.provenance.get("generators") or {}).values()]
    return {"side": side, "study": study.name, "results": str(study.folder), "commit": study.provenance.get("commit"),
            "engine": sorted(engines), "fingerprints": fingerprints,
            "versions": [f"{name} {versions[name]}" for name in SCORING if name in versions]}  # fmt: skip
