"""The study page's section about annotation sources."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.labels.outputs import OUTPUTS, PARTS
from ragrelay.annexes.labels.page import first_shown
from ragrelay.annexes.labels.sentences import label_answer, label_sentences
from ragrelay.annexes.labels.study import TABLES, AnnotationStudy, read_annotations
from ragrelay.annexes.labels.trust_page import agreement_sentences, headline_warnings, trust_sentences, trust_warnings
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.outputs import Table
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: Any, params: Any) -> list[AnnotationStudy]:
    """Read each scorer's data on annotation sources. ``params``: the values for JudgeTrust, keyed by field."""
    return read_annotations({name: files[name] for name in TABLES}, inputs.label_cost, params, inputs.label_checks)


def values(part: Sequence[AnnotationStudy], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``annotations.html.j2``, and add the part's charts to ``page``."""
    return {"annotations": [_of_scorer(shown, place, page, most_rows) for place, shown in enumerate(part, 1)]}


def opening(part: Sequence[AnnotationStudy]) -> list[str]:
    """Return the sentences on how well each judge agrees with human labels."""
    return agreement_sentences(part[0])


def warnings(part: Sequence[AnnotationStudy]) -> list[str]:
    """Return the warnings about the dataset's own judgements, from the first scorer's data."""
    return headline_warnings(part[0])


def _of_scorer(shown: AnnotationStudy, place: int, page: Page, most_rows: int) -> dict[str, object]:
    anchor, words = f"annotations{place}", {"scorer": shown.scorer}
    return {
        "anchor": anchor,
        "answer": label_answer(shown),
        "scorer": shown.scorer,
        "first": first_shown(shown),
        "warnings": trust_warnings(shown),
        "sentences": [*agreement_sentences(shown), *label_sentences(shown), *trust_sentences(shown)],
        "parts": page.parts(shown, OUTPUTS, PARTS, anchor, {Table: most_rows // 3}, words),
    }
