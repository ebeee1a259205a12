"""Compute four readability indices of English texts, from counts of sentences, words, syllables and letters."""

import functools
import re
from typing import NamedTuple

PUNCTUATION = re.compile(r"[^\w\s']|'(?!(?:[tsd]|ve|ll|re))")
"""Deleted before words are counted, so that a hyphenated word is one word. Contractions keep their apostrophe."""
SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
SHORTEST_SENTENCE = 3
"""Words of a sentence. Anything shorter counts as an abbreviation or a number, not as a sentence."""


class Counts(NamedTuple):
    sentences: int
    words: int
    spaced: int
    """Words separated by spaces, including separate punctuation."""
    syllables: int
    letters: int
    """Letters and digits."""
    characters: int
    """All characters except white space."""


def _words(text: str) -> list[str]:
    return PUNCTUATION.sub("", text).split()


@functools.cache
def _hyphenation() -> object:
    import pyphen  # here, as only jobs need it

    return pyphen.Pyphen(lang="en_US")


@functools.lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """Count the syllables of a word: by the CMU Pronouncing Dictionary, else one more than its hyphenation points."""
    from pysyllables import get_syllable_count

    known = get_syllable_count(word)
    return len(_hyphenation().positions(word.lower())) + 1 if known is None else int(known)  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=128)
def counts(text: str) -> Counts:
    """Count what the indices need. Raises ValueError for a text without a word."""
    words = _words(text)
    if not words:
        raise ValueError("a text without a word has no readability")
    sentences = sum(len(_words(sentence)) >= SHORTEST_SENTENCE for sentence in SENTENCE.findall(text))
    joined = "".join(text.split())
    letters = len(re.sub(r"\W", "", joined))
    return Counts(max(1, sentences), len(words), len(text.split()), sum(map(syllables, words)), letters, len(joined))


def flesch_reading_ease(text: str) -> float:
    """Return Flesch (1948): 206.835 - 1.015 words per sentence - 84.6 syllables per word; higher is easier."""
    size = counts(text)
    return 206.835 - 1.015 * size.words / size.sentences - 84.6 * size.syllables / size.words


def flesch_kincaid_grade(text: str) -> float:
    """Return Kincaid et al. (1975): 0.39 words per sentence + 11.8 syllables per word - 15.59, a school grade."""
    size = counts(text)
    return 0.39 * size.words / size.sentences + 11.8 * size.syllables / size.words - 15.59


def coleman_liau_index(text: str) -> float:
    """Return Coleman and Liau (1975): 0.058 letters - 0.296 sentences, both per 100 words, - 15.8, a school grade.

    The article has 0.0588; 0.058 is textstat's value, used by the studies with which we compare.
    """
    size = counts(text)
    return 0.058 * 100 * size.letters / size.words - 0.296 * 100 * size.sentences / size.words - 15.8


def automated_readability_index(text: str) -> float:
    """Return Smith and Senter (1967): 4.71 characters per word + 0.5 words per sentence - 21.43, a school grade."""
    size = counts(text)
    return 4.71 * size.characters / size.spaced + 0.5 * size.words / size.sentences - 21.43


INDICES = {
    index.__name__: index
    for index in (flesch_reading_ease, flesch_kincaid_grade, coleman_liau_index, automated_readability_index)
}
"""Indices by name. The first is higher for easier texts, the others for more difficult texts."""
