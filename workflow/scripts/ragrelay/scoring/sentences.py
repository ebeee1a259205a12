"""Split an answer into sentences, and read the passages that each cites by numbers in brackets."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragrelay.collection.answer_formats.trec_rag import split_sentences

CITATION = re.compile(r"(?<!\s)\s*\[(\d+(?:\s*[,;]\s*\d+)*)\]")
"""One or several passages, such as ``[1]`` or ``[1, 3]``, with the white space before.

The look-behind keeps a search through a long run of white space linear."""
NUMBER = re.compile(r"\d+")
MOST_DIGITS = 9
"""A longer number is no passage's number, and neither is 0."""


class Sentence(NamedTuple):
    """A sentence without its citations. ``cited``: the distinct numbers in these, in their order."""

    text: str
    cited: tuple[int, ...]


def cited_sentences(answer: str) -> list[Sentence]:
    """Return the sentences of ``answer`` that have a word, with their citations, also those after the full stop."""
    collected: list[tuple[str, dict[int, None]]] = []
    for part in split_sentences(answer):
        # Citations before the first word belong to the preceding sentence.
        leading = re.match(rf"(?:{CITATION.pattern})+[.,;]?", part)
        if leading and collected:
            collected[-1][1].update(dict.fromkeys(_numbers(leading[0])))
            part = part[leading.end() :]
        text = CITATION.sub("", part).strip()
        if re.search(r"\w", text):
            collected.append((text, dict.fromkeys(_numbers(part))))
    return [Sentence(text, tuple(cited)) for text, cited in collected]


def numbered_citations(cited: Sequence[Mapping[str, Any]] | None, docnos: Sequence[str]) -> list[Sentence] | None:
    """Return the sentences (text, citations) that have a word, with docnos as numbers in ``docnos`` (0 if absent).

    Marks such as ``[1]`` in a text are removed, since the citations are known. Returns None for None.
    """
    if cited is None:
        return None
    place = {docno: number for number, docno in enumerate(docnos, start=1)}
    sentences = []
    for sentence in cited:
        text = CITATION.sub("", sentence["text"]).strip()
        if re.search(r"\w", text):
            sentences.append(
                Sentence(text, tuple(dict.fromkeys(place.get(docno, 0) for docno in sentence["citations"])))
            )
    return sentences


def _numbers(text: str) -> list[int]:
    numbers = [number for citation in CITATION.findall(text) for number in NUMBER.findall(citation)]
    return [int(number) if len(number) <= MOST_DIGITS else 0 for number in numbers]
