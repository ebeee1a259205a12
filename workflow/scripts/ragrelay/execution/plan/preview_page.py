"""Show previews of an unfinished study on the terminal and on a page that gives numbers but no verdicts."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ragrelay.execution.plan.preview import Preview, ScorerPreview
from ragrelay.report.display.numbers import count, counted, listing, share
from ragrelay.report.display.page import Page
from ragrelay.report.display.tables import between, depth, name, numeric, table_of
from ragrelay.report.display.templates import FOLDER

TEMPLATE = FOLDER / "preview.html.j2"
WHY = (
    "This preview gives no verdicts. Checking ten times and stopping at the first interval that excludes 0 gives a "
    "false finding in 9 to 14% of simulated studies with no difference (43 queries), in 13 to 18% (200 queries), and "
    "in 57 to 71% with nine pairs of retrievers."
)
"""The numbers come from benchmarks/early_words.py."""


def preview_lines(previews: Sequence[Preview]) -> list[str]:
    """Return a line for each dataset and generator and for each scorer, or a single line if no query is complete."""
    if not any(preview.complete for preview in previews):
        found = "; ".join(f"{_title(preview, ', ')}: {_own(preview)}" for preview in previews)
        return [
            f"Nothing to preview: no query has all its answers yet. Queries that each retriever has finished: {found}."
        ]
    lines = []
    for preview in previews:
        lines.append(f"{_title(preview, ', ')}: {_complete(preview)}")
        lines += [f"  {scorer.scorer}: {_scored(preview, scorer)}" for scorer in preview.scorers]
    return lines


def render_preview(
    study: str, previews: Sequence[Preview], made: datetime, results: Path, page: Path, clustered: Sequence[str] = ()
) -> str:
    """Return the preview's HTML, to be written to ``page``. ``results``: the study's folder.

    ``clustered``: datasets whose queries form clusters. The preview treats these queries as independent.
    """
    notices = [f"Not the result of {study}, but a snapshot from {made:%Y-%m-%d at %H:%M}.", WHY]
    if clustered:
        named = listing(list(clustered))
        notices.append(f"Queries of {named} come in clusters; these intervals treat them as independent.")
    links = os.path.relpath(results, page.parent)
    shown = Page(study, f"Preview of {study}: not the result", [], {"main": "Preview"}, notices, links)
    parts = [
        {
            "anchor": f"s{place}",
            "title": _title(preview, " · "),
            "complete": _complete(preview),
            "scorers": [
                _tables(preview, scorer, f"s{place}-{number}") for number, scorer in enumerate(preview.scorers)
            ],
        }
        for place, preview in enumerate(previews, 1)
    ]
    return shown.html(TEMPLATE, parts=parts)


def _tables(preview: Preview, scorer: ScorerPreview, anchor: str) -> dict[str, object]:
    shown = {"anchor": anchor, "title": scorer.scorer, "scored": _scored(preview, scorer)}
    if scorer.means.is_empty():
        return shown | {"means": None, "pairs": None}
    of_primary = scorer.primary.references if scorer.primary else ""
    cell = (name("ordering"), depth(), name("references", chosen=of_primary), numeric("queries", "n", count))
    means = table_of(
        scorer.means,
        name("retriever"),
        *cell,
        between("mean P", "mean_p", ends=("p_low", "p_high")),
        numeric("mean P₀", "mean_p0"),
        between("mean gain P − P₀", "mean_difference"),
    )
    pairs = table_of(
        scorer.pairs,
        name("retriever"),
        name("less", "against_retriever"),
        *cell,
        between("mean difference of P", "mean_difference"),
        numeric("level", "level", share),
    )
    return shown | {"means": means, "pairs": pairs}


def _title(preview: Preview, between_names: str) -> str:
    return between_names.join([preview.dataset, preview.generator])


def _complete(preview: Preview) -> str:
    """Return how many queries count, and which retrievers are left out."""
    if not preview.complete:
        return f"no query has all its answers yet ({_own(preview)})"
    left_out = [name for name in preview.answered if preview.answered[name] is None or not preview.answered[name]]
    of_all = f"{count(preview.complete)} of {counted(preview.queries, 'query', 'queries')}"
    if not left_out:
        return f"{of_all}, complete for every retriever"
    reasons = ", ".join(f"{name} ({_answered(preview, name)})" for name in left_out)
    return f"{of_all}, complete for {', '.join(preview.retrievers)}; left out: {reasons}"


def _own(preview: Preview) -> str:
    if not preview.queries:
        return "the queries are not there yet"
    return f"{', '.join(f'{name} {_answered(preview, name)}' for name in preview.answered)} of {preview.queries}"


def _answered(preview: Preview, retriever: str) -> str:
    number = preview.answered[retriever]
    return "not there yet" if number is None else count(number)


def _scored(preview: Preview, scorer: ScorerPreview) -> str:
    return f"{count(scorer.scored)} of {count(preview.complete)} scored" + (
        f"; {scorer.remark}" if scorer.remark else ""
    )
