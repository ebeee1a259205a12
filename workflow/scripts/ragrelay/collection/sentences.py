"""Split texts in any script into sentences."""

import re
import unicodedata
from itertools import accumulate, pairwise

_BLANK = re.compile(r"[^\S \t\r\n]")
_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*+•‣◦▪–—]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]+")
"""The mark before a list item."""
_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z])[.)]\s*")
_NAME = re.compile(r"\.[A-Za-z]")
"""A full stop within a name such as ASP.NET."""
_MARKS = re.compile(r"[\u0f0d\u0f0e\u17d4\u17d5]+\s*")
"""Sentence ends that sentencex doesn't know: Tibetan and Khmer."""


def split_sentences(text: str) -> list[str]:
    """Split ``text`` into sentences, each with the whitespace that follows. Joining the sentences restores the text.

    Sentence ends are found by the package sentencex with its rules for English, which also work with full stops in
    other scripts. A list item, with its bullet or number, begins a new sentence. A text without full stops, as in Thai,
    is one sentence.
    """
    from sentencex import segment

    cuts = {0, len(text), *(mark.end() for mark in _MARKS.finditer(text))}
    for start, end in pairwise(sorted({0, len(text), *(item.start() for item in _ITEM.finditer(text))})):
        item = _ITEM.match(text, start)
        begin = item.end() if item else start
        # Other whitespace can make the library fail with an error.
        sizes = map(len, segment("en", _BLANK.sub(" ", text[begin:end])))
        cuts |= {start, *list(accumulate(sizes, initial=begin))[1:]}
    sentences: list[str] = []
    for start, end in pairwise(sorted(cuts)):
        in_name = _NAME.match(text, max(0, start - 1))
        if sentences and (in_name or not text[start:end].strip() or _NUMBER.fullmatch(sentences[-1])):
            sentences[-1] += text[start:end]
        else:
            sentences.append(text[start:end])
    return sentences


def halves(text: str) -> list[str]:
    """Split a text at the whitespace nearest to the middle or, if there is none, in the middle.

    The text must have at least two characters. A letter and its marks, such as vowel signs, stay together.
    """
    middle = len(text) // 2
    places = [blank.end() for blank in re.finditer(r"(?<=\S)\s+(?=\S)", text)] or [middle]
    place = min(places, key=lambda place: abs(place - middle))
    while place < len(text) - 1 and unicodedata.category(text[place]).startswith("M"):
        place += 1
    return [text[:place], text[place:]]
