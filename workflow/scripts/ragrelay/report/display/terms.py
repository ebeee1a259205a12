"""Explain each technical term on its first use in a page. tools/terms.py copies the meanings from docs/glossary.md."""

import re
from collections.abc import Iterable
from functools import cache

from markupsafe import Markup, escape

from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.workflow_files import ROOT

MEANINGS = ROOT / "workflow" / "report" / "terms.json"
EXPLAINED = {
    "P₀": "P₀",
    "P": "P",
    "nDCG": "nDCG",
    "ρ": "ρ",
    "relay": "[Rr]elay",
    "margin": "margin",
    "difficulty": "difficulty",
    "effective queries": "effective(?: queries)?",
    "zero-shot answer": "zero-shot",
    "gain": "gain",
    "verdict": "verdict",
    "primary comparison": "[Pp]rimary pair",
    "95% interval": "95% intervals?",
    "oracle": "[Oo]racles?",
    "reference": "references?",
    "k": "k(?= =)",
    "seed": "seeds?",
    "ordering": "order(?= *,)",
    "judgement": "judgements?",
    "utility": "utility",
    "cell": "cells?",
    "grade": "grades?",
    "retriever": "retrievers?",
}
"""The glossary words that a page explains, each with a pattern that finds it in a sentence."""
ALONE = "(?<![\\w-]){}(?![\\w-])"


@cache
def meanings() -> dict[str, str]:
    """Return the glossary's meaning of each term that pages explain, as plain text, keyed by term."""
    return dict(read_json(MEANINGS))


def explained() -> list[tuple[str, str]]:
    """Return the terms that pages explain, with meanings, in alphabetical order."""
    known = meanings()
    return sorted(((word, known[word]) for word in EXPLAINED), key=lambda pair: pair[0].lower())


class Explainer:
    """A Jinja filter that marks the first occurrence of each term in a page."""

    def __init__(self) -> None:
        self.left = dict(EXPLAINED)

    def __call__(self, text: str) -> Markup:
        """Escape ``text`` and wrap each term's first occurrence in an element with its meaning."""
        found = sorted(self._found(text))
        parts, end = [], 0
        for start, stop, word in found:
            if start < end:
                continue
            del self.left[word]
            element = Markup('<span class="term" role="button" tabindex="0" data-meaning="{}">{}</span>')
            parts += [escape(text[end:start]), element.format(meanings()[word], text[start:stop])]
            end = stop
        return Markup("").join([*parts, escape(text[end:])])

    def _found(self, text: str) -> Iterable[tuple[int, int, str]]:
        for word, pattern in self.left.items():
            if match := re.search(ALONE.format(pattern), text):
                yield match.start(), match.end(), word
