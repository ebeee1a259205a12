"""The sentences of an answer, and the passages that each cites by numbers in brackets."""

import re
from typing import NamedTuple

from ragrelay.answer_formats.trec_rag import sentences

CITATION = re.compile(r"\s*\[(\d+(?:\s*[,;]\s*\d+)*)\]")
"""One or several passages, such as ``[1]`` or ``[1, 3]``, with the white space before."""


class Sentence(NamedTuple):
    """A sentence without its citations; ``cited``: the numbers in these, each once, in their order."""

    text: str
    cited: tuple[int, ...]


def cited_sentences(answer: str) -> list[Sentence]:
    """The sentences of ``answer`` that have a word, with their citations: those that follow the full stop count too."""
    found: list[Sentence] = []
    for part in sentences(answer):
        # What stands before the first word belongs to the sentence that ended there.
        leading = re.match(rf"(?:{CITATION.pattern})+[.,;]?", part)
        if leading and found:
            found[-1] = Sentence(found[-1].text, _each_once(found[-1].cited, _numbers(leading[0])))
            part = part[leading.end() :]
        text = CITATION.sub("", part).strip()
        if re.search(r"\w", text):
            found.append(Sentence(text, _each_once((), _numbers(part))))
    return found


def _numbers(text: str) -> list[int]:
    return [int(number) for citation in CITATION.findall(text) for number in re.findall(r"\d+", citation)]


def _each_once(first: tuple[int, ...], others: list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys([*first, *others]))
