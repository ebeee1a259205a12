"""Compute four readability indices for English texts from the numbers of sentences, words, syllables and letters."""

import functools
import re
from typing import NamedTuple

PUNCTUATION = re.compile(r"[^\w\s']|'(?!(?:[tsd]|ve|ll|re))")
"""Deleted before words are counted, so that a hyphenated word counts as one. Apostrophes in contractions stay."""
SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
SHORTEST_SENTENCE = 3
"""Minimum number of words in a sentence. Shorter ones don't count, because most are abbreviations or numbers."""


class Counts(NamedTuple):
    sentences: int
    words: int
    spaced: int
    """Number of words separated by spaces, including punctuation between spaces."""
    syllables: int
    letters: int
    """Number of letters and digits."""
    characters: int
    """Number of characters except whitespace."""


def _words(text: str) -> list[str]:
    return PUNCTUATION.sub("", text).split()


@functools.cache
def _hyphenation() -> object:
    import pyphen  # only jobs need it

    return pyphen.Pyphen(lang="en_US")


@functools.lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """Count a word's syllables with the CMU Pronouncing Dictionary or, for other words, with hyphenation rules."""
    from pysyllables import get_syllable_count

    known = get_syllable_count(word)
    return len(_hyphenation().positions(word.lower())) + 1 if known is None else int(known)  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=128)
def counts(text: str) -> Counts:
    """Count the sentences, words, syllables and letters in a text. Raises ValueError if the text has no words."""
    words = _words(text)
    if not words:
        raise ValueError("a text without a word has no readability")
    sentences = sum(len(_words(sentence)) >= SHORTEST_SENTENCE for sentence in SENTENCE.findall(text))
    joined = "".join(text.split())
    letters = len(re.sub(r"\W", "", joined))
    return Counts(max(1, sentences), len(words), len(text.split()), sum(map(syllables, words)), letters, len(joined))


def flesch_reading_ease(text: str) -> float:
    """Compute Flesch's index (1948): 206.835 - 1.015 * words/sentence - 84.6 * syllables/word. Higher is easier."""
    size = counts(text)
    return 206.835 - 1.015 * size.words / size.sentences - 84.6 * size.syllables / size.words


def flesch_kincaid_grade(text: str) -> float:
    """Compute Kincaid et al.'s grade level (1975): 0.39 * words per sentence + 11.8 * syllables per word - 15.59."""
    size = counts(text)
    return 0.39 * size.words / size.sentences + 11.8 * size.syllables / size.words - 15.59


def coleman_liau_index(text: str) -> float:
    """Compute Coleman and Liau's grade (1975): 0.058 * letters per 100 words - 0.296 * sentences per 100 words - 15.8.

    The article has 0.0588. We use 0.058, textstat's value, because the studies that we compare with used textstat.
    """
    size = counts(text)
    return 0.058 * 100 * size.letters / size.words - 0.296 * 100 * size.sentences / size.words - 15.8


def automated_readability_index(text: str) -> float:
    """Compute Smith and Senter's grade level (1967): 4.71 * characters per word + 0.5 * words per sentence - 21.43."""
    size = counts(text)
    return 4.71 * size.characters / size.spaced + 0.5 * size.words / size.sentences - 21.43


INDICES = {
    index.__name__: index
    for index in (flesch_reading_ease, flesch_kincaid_grade, coleman_liau_index, automated_readability_index)
}
"""The indices by name. The first is higher for easier texts; the others are higher for harder texts."""
