"""The page of a comparison, in the look of a study's page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.compare.compared import Compared
from ragrelay.compare.data import data_hashes
from ragrelay.compare.findings import sentences
from ragrelay.compare.outputs import OUTPUTS, PARTS
from ragrelay.compare.studies import Finished, differences_of
from ragrelay.display import tables
from ragrelay.display.charts import Spec
from ragrelay.display.outputs import Figure, Table
from ragrelay.display.page_parts import page_parts
from ragrelay.display.script_json import script_json
from ragrelay.display.templates import FOLDER, bundle, environment, inside

TEMPLATE = FOLDER / "compare.html.j2"
STYLES = ("page.css", "print.css")
SCRIPTS = ("tables.js", "charts.js")
SCORING = ("torch", "transformers")
MOST_ROWS = 3_000
MOST_POINTS = 20_000
"""On the whole page, shared by its pairs; it stays below 10 MB."""


def render(before: Finished, after: Finished, pairs: Sequence[Compared], template: Path = TEMPLATE) -> str:
    """The page as HTML; what comes from data is escaped as on a study's page."""
    charts: dict[str, Spec] = {}
    shown = [_part(compared, place, len(pairs), after.name, charts) for place, compared in enumerate(pairs, 1)]
    data = [row for part in pairs for row in _data(before, after, part)]
    config = [row for row in differences_of(before.config, after.config) if row["key"] != "study"]
    return (
        environment(template.parent)
        .get_template(template.name)
        .render(
            title=f"{before.name} → {after.name}",
            before=before,
            after=after,
            pairs=shown,
            config=tables.records_table("What differs in the configurations", config, ("key", "before", "after")),
            data=tables.records_table("What differs in the data", data, ("data", "before", "after")),
            about=tables.records_table("The two studies", [_about("before", before), _about("after", after)]),
            style=inside(template.parent, *STYLES),
            script=inside(template.parent, *SCRIPTS),
            bundle=bundle(),
            charts=Markup(script_json(charts)),
        )
    )


def _data(before: Finished, after: Finished, part: Compared) -> list[dict[str, str]]:
    """Queries, judgements, runs and so on whose content differs, with count and hash on each side."""
    sides = [
        data_hashes(study.folder, name, study.grid["retrievers"])
        for study, name in zip((before, after), part.pair.dataset, strict=True)
    ]
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


def _part(compared: Compared, place: int, parts: int, after: str, charts: dict[str, Spec]) -> dict[str, Any]:
    anchor = f"s{place}"
    most = {Figure: MOST_POINTS // parts, Table: MOST_ROWS // parts}
    return {
        "anchor": anchor,
        "title": compared.pair.title,
        "findings": sentences(compared),
        "parts": page_parts(compared, OUTPUTS, PARTS, anchor, charts, most, {"after": after}),
    }
