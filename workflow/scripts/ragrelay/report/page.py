"""Render a study's page, with its sections, the annexes' parts, the query explorer and the provenance."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ragrelay.report import answer_findings, findings, lead_answers, verdict_sentences
from ragrelay.report.display.outputs import Figure, Table, available
from ragrelay.report.display.page import Page
from ragrelay.report.display.sections import Section
from ragrelay.report.display.templates import FOLDER
from ragrelay.report.explorer import explorer, explorer_json
from ragrelay.report.facts import facts_of
from ragrelay.report.facts_file import facts_file
from ragrelay.report.lead import lead, size
from ragrelay.report.origin import origin
from ragrelay.report.outputs import OUTPUTS, PARTS, WITH_BASELINE, WITHOUT_BASELINE
from ragrelay.report.over_all import over_all
from ragrelay.report.part_headings import COUNTING, counted_where, headings
from ragrelay.report.questions import ANCHOR as QUESTIONS
from ragrelay.report.signature import signature
from ragrelay.report.study import ReportedStudy

TEMPLATE = FOLDER / "page.html.j2"
QUESTION = "Is relevance relayed from the retriever to the answer?"

DEFENCE = ("tests",)
"""Parts of a section that the page puts in the section's fold *How do we know?*."""

MOST_DOUBTS = 3
"""The maximum number of doubts about the data above the answers; the others follow the first table."""
MOST_POINTS = 18_000
MOST_ROWS = 9_000
"""Limits for scatter plots' points and long tables' rows, divided among the sections to keep the page below 10 MB."""


def render_page(study: ReportedStudy, template: Path = TEMPLATE, path: Path = Path("index.html")) -> str:
    """Return the page's HTML. Links in the page are relative to ``path``, the file to which you write the HTML."""
    return page_and_facts(study, template, path)[0]


def page_and_facts(study: ReportedStudy, template: Path, path: Path) -> tuple[str, dict[str, Any]]:
    """Return the page's HTML, with links relative to ``path``, and the content of facts.json."""
    study = _primary_first(study)
    answers = lead_answers.answers(facts_of(study.sections[0])) if study.sections else []
    retrievers = {name: look for section in study.sections for name, look in section.looks.items()}
    below = [*study.notices, *study.doubts[MOST_DOUBTS:]]
    page = Page(study.name, QUESTION, answers, _entries(study), below, retrievers=retrievers)
    explored, of_annexes, over_several = explorer(study, path), _annexes(study, page), _over_all(study, page)
    of_origin = origin(study)
    html = page.html(
        template,
        study=study,
        doubts=[*study.missing, *study.doubts[:MOST_DOUBTS]],
        summary=findings.summary(study),
        sections=(sections := [_section(study, one, place, page) for place, one in enumerate(study.sections, 1)]),
        over_all=over_several,
        **of_annexes,
        questions=study.questions,
        explorer=explored,
        explorer_index=explorer_json(explored),
        **of_origin,
    )
    leads = [section["lead"] for section in sections]
    return html, facts_file(study, of_annexes | of_origin, leads, over_several["rows"] if over_several else ())


def _entries(study: ReportedStudy) -> dict[str, str]:
    """Return the parts of this page to which the study's other pages link."""
    links = {
        "main": ("Report", True),
        "explorer": ("Queries", study.explorer),
        **{shown.link[0]: (shown.link[1], True) for shown in study.parts},
        QUESTIONS: ("Questions", study.questions),
    }
    return {anchor: title for anchor, (title, shown) in links.items() if shown}


def _annexes(study: ReportedStudy, page: Page) -> dict[str, Any]:
    """Return the annexes' template variables, templates, and sentences for the top of the page."""
    values: dict[str, Any] = {
        name: [] for name in ("annex_templates", "annex_openings", "annex_warnings", "annex_answers")
    }
    for shown in study.parts:
        module = import_module(shown.module)
        variables = module.values(shown.part, page, MOST_ROWS)
        values |= variables
        values["annex_answers"] += [(shown.module.split(".")[-2], value) for value in variables.values()]
        values["annex_templates"].append(shown.template)
        for name, sentences in (("annex_openings", "opening"), ("annex_warnings", "warnings")):
            values[name] += getattr(module, sentences)(shown.part) if hasattr(module, sentences) else []
    return values


def _primary_first(study: ReportedStudy) -> ReportedStudy:
    """Move the sections of the primary comparison's scorer to the front, with their explorer data."""
    later = [section.primary is not None and section.primary.scorer != section.scorer for section in study.sections]
    order = sorted(range(len(later)), key=later.__getitem__)
    folders = [study.explorer[place] for place in order] if study.explorer else []
    return replace(study, sections=tuple(study.sections[place] for place in order), explorer=folders)


def _section(study: ReportedStudy, section: Section, place: int, page: Page) -> dict[str, Any]:
    anchor = f"s{place}"
    differing = [key for key, name in section.keys.items() if any(each.keys[key] != name for each in study.sections)]
    of_section = [output for output in OUTPUTS if output.of == "section" and (section.baseline or not output.baseline)]
    outputs = available(of_section, section.tables)
    most = {Figure: MOST_POINTS // len(study.sections) // 2, Table: MOST_ROWS // len(study.sections) // 5}
    words = {"measure": section.grid.measure} | (WITH_BASELINE if section.baseline else WITHOUT_BASELINE)
    of_queries = "Choose a point to open its query in the explorer." if study.explorer else ""
    parts = page.parts(section, outputs, PARTS, anchor, most, words, of_queries)
    facts = facts_of(section)
    finding_of = headings(facts)
    where = {name: counted_where(section) for name in COUNTING if name in finding_of}
    parts = [
        part | {"finding": finding_of.get(part["name"], ""), "counted": where.get(part["name"], "")} for part in parts
    ]
    return {
        "anchor": anchor,
        "section": section,
        "short": " · ".join(section.keys[key] for key in differing),
        "first": place == 1,
        "size": size(study.sections),
        "lead": lead(facts, place, bool(study.explorer), study.left_out),
        "signature": signature(study.provenance, **section.keys),
        "how": verdict_sentences.how_relayed(facts),
        "findings": findings.findings(section),
        "unscored": findings.unscored(study, section),
        "of_answers": answer_findings.findings_on_answers(section),
        "parts": [part for part in parts if part["name"] not in DEFENCE],
        "defended": [part for part in parts if part["name"] in DEFENCE],
    }


def _over_all(study: ReportedStudy, page: Page) -> dict[str, Any] | None:
    """Return the answers over all generators and datasets with their table; None if there is only one of each."""
    if study.pooled is None:
        return None
    outputs = [output for output in OUTPUTS if output.of == "study"]
    parts = page.parts(study, outputs, {"pooled": PARTS["pooled"]}, "over-all")
    rows, notes = over_all(study.pooled)
    return {"rows": rows, "notes": notes, "parts": parts}
