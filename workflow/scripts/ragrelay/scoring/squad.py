"""Compare the words of short answers, normalised as in SQuAD.

Source of the normalisation, exact match and F1: Rajpurkar et al., SQuAD, EMNLP 2016, and its evaluation script. Two
things differ. Texts that look alike are equal (characters.plain), and punctuation of any script is left out, as in the
evaluation of MLQA (Lewis et al., ACL 2020). A text of articles alone, such as the option "A", keeps them.
"""

import re
import string
import unicodedata
from collections import Counter

from ragrelay.base.io.characters import plain

ARTICLES = re.compile(r"\b(a|an|the)\b")
BEFORE_A_WORD = re.compile(r"\b(an?|the)(?=\s+\w)")
"""An article in a sentence. In "The answer is A." and "a) tea", the letter is none."""


class _Punctuation(dict[int, str]):
    """For str.translate: ASCII punctuation and symbols, and the punctuation of other scripts, become nothing."""

    def __missing__(self, code: int) -> str:
        self[code] = "" if unicodedata.category(chr(code)).startswith("P") else chr(code)
        return self[code]


_PUNCTUATION = _Punctuation(dict.fromkeys(map(ord, string.punctuation), ""))


def words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, without punctuation and English articles.

    A text that has nothing else keeps its articles; without these, its punctuation.
    """
    lowered = plain(text).lower()
    bare = lowered.translate(_PUNCTUATION)
    return ARTICLES.sub(" ", bare).split() or bare.split() or lowered.split()


def words_of_pair(answer: str, gold: str) -> tuple[list[str], list[str]]:
    """Return the words of both texts.

    If the gold answer has only articles, the answer keeps its own except those in lower case before another word.
    """
    ours, theirs = words(answer), words(gold)
    if theirs and all(map(ARTICLES.fullmatch, theirs)):
        ours = BEFORE_A_WORD.sub(" ", plain(answer)).lower().translate(_PUNCTUATION).split()
    return ours, theirs


def exact_match(answer: str, gold: str) -> float:
    """Return 1 if both texts have the same words in the same order, else 0."""
    ours, theirs = words_of_pair(answer, gold)
    return float(ours == theirs)


def token_f1(answer: str, gold: str) -> tuple[float, float, float]:
    """Return precision, recall and F1 of shared words, with multiplicity; if a text has no words, 1 if neither has."""
    ours, theirs = words_of_pair(answer, gold)
    if not ours or not theirs:
        return (float(ours == theirs),) * 3
    shared = (Counter(ours) & Counter(theirs)).total()
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return precision, recall, 2 * precision * recall / (precision + recall)


def containment(answer: str, gold: str) -> float:
    """Return 1 if the answer contains the gold answer's words, together and in order, else 0.

    This is the accuracy of Liu et al., Lost in the Middle, TACL 2024, and of Mallen et al., ACL 2023, but for complete
    words: there, "party" contains "art". A gold answer of articles alone, such as "A", is also in an answer that begins
    with that article.
    """
    ours, theirs = words_of_pair(answer, gold)
    return float(bool(theirs) and f" {' '.join(theirs)} " in f" {' '.join(ours)} ")
