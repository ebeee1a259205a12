"""Four indices of how readable an English text is, from counts of its sentences, words, syllables and letters."""

import functools
import re
from typing import NamedTuple

PUNCTUATION = re.compile(r"[^\w\s']|'(?!(?:[tsd]|ve|ll|re))")
"""Deleted before words are counted, so that a hyphenated word is one word; contractions keep their apostrophe."""
SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
SHORTEST_SENTENCE = 3
"""Words. What is shorter is taken for an abbreviation or a number, and not counted as a sentence."""


class Counts(NamedTuple):
    sentences: int
    words: int
    spaced: int
    """Words as spaces part them, punctuation that stands alone included."""
    syllables: int
    letters: int
    """Letters and digits."""
    characters: int
    """All but white space."""


def _words(text: str) -> list[str]:
    return PUNCTUATION.sub("", text).split()


@functools.cache
def _hyphenation() -> object:
    import pyphen  # here, as only jobs need it

    return pyphen.Pyphen(lang="en_US")


@functools.lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """Count the syllables of a word: as the CMU Pronouncing Dictionary has it, else one more than its hyphens."""
    from pysyllables import get_syllable_count

    known = get_syllable_count(word)
    return len(_hyphenation().positions(word.lower())) + 1 if known is None else int(known)  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=128)
def counts(text: str) -> Counts:
    """Count what the indices are made of. Raises ValueError for a text without a word."""
    words = _words(text)
    if not words:
        raise ValueError("a text without a word has no readability")
    sentences = sum(len(_words(sentence)) >= SHORTEST_SENTENCE for sentence in SENTENCE.findall(text))
    joined = "".join(text.split())
    letters = len(re.sub(r"\W", "", joined))
    return Counts(max(1, sentences), len(words), len(text.split()), sum(map(syllables, words)), letters, len(joined))


def flesch_reading_ease(text: str) -> float:
    """Flesch (1948): 206.835 - 1.015 words per sentence - 84.6 syllables per word; higher is easier."""
    of = counts(text)
    return 206.835 - 1.015 * of.words / of.sentences - 84.6 * of.syllables / of.words


def flesch_kincaid_grade(text: str) -> float:
    """Kincaid et al. (1975): 0.39 words per sentence + 11.8 syllables per word - 15.59, a school grade."""
    of = counts(text)
    return 0.39 * of.words / of.sentences + 11.8 * of.syllables / of.words - 15.59


def coleman_liau_index(text: str) -> float:
    """Coleman and Liau (1975): 0.058 letters - 0.296 sentences, both per 100 words, - 15.8, a school grade.

    The article has 0.0588; 0.058 is textstat's, with which the studies that we compare with were made.
    """
    of = counts(text)
    return 0.058 * 100 * of.letters / of.words - 0.296 * 100 * of.sentences / of.words - 15.8


def automated_readability_index(text: str) -> float:
    """Smith and Senter (1967): 4.71 characters per word + 0.5 words per sentence - 21.43, a school grade."""
    of = counts(text)
    return 4.71 * of.characters / of.spaced + 0.5 * of.words / of.sentences - 21.43


INDICES = {
    index.__name__: index
    for index in (flesch_reading_ease, flesch_kincaid_grade, coleman_liau_index, automated_readability_index)
}
"""Indexes by name; the first rises with ease, the others with difficulty."""
