"""Compare the words of short answers after normalising the texts as in SQuAD.

The normalisation, exact match and F1 follow SQuAD's evaluation script (Rajpurkar et al., EMNLP 2016), with two
exceptions: look-alike characters are unified (characters.plain), and punctuation is removed in every writing system, as
for MLQA (Lewis et al., ACL 2020). Articles are kept in a text that consists only of articles, such as the option "A".
"""

import re
import string
import unicodedata
from collections import Counter

from ragrelay.base.io.characters import plain

ARTICLES = re.compile(r"\b(a|an|the)\b")
BEFORE_A_WORD = re.compile(r"\b(an?|the)(?=\s+\w)")
"""An article inside a sentence. In "The answer is A." and "a) tea", the letter isn't an article."""


class _Punctuation(dict[int, str]):
    """For str.translate: removes ASCII punctuation and symbols, and the punctuation of other scripts."""

    def __missing__(self, code: int) -> str:
        self[code] = "" if unicodedata.category(chr(code)).startswith("P") else chr(code)
        return self[code]


_PUNCTUATION = _Punctuation(dict.fromkeys(map(ord, string.punctuation), ""))


def words(text: str) -> list[str]:
    """Return the words in ``text`` in lower case, without punctuation or English articles.

    Articles are kept if there are no other words, and punctuation is kept if there are no words at all.
    """
    lowered = plain(text).lower()
    bare = lowered.translate(_PUNCTUATION)
    return ARTICLES.sub(" ", bare).split() or bare.split() or lowered.split()


def words_of_pair(answer: str, gold: str) -> tuple[list[str], list[str]]:
    """Return the words of an answer and of a gold answer.

    If the gold answer consists of articles, the answer keeps its articles, except lower-case ones before another word.
    """
    ours, theirs = words(answer), words(gold)
    if theirs and all(map(ARTICLES.fullmatch, theirs)):
        ours = BEFORE_A_WORD.sub(" ", plain(answer)).lower().translate(_PUNCTUATION).split()
    return ours, theirs


def exact_match(answer: str, gold: str) -> float:
    """Return 1 if both texts have the same words in the same order, otherwise 0."""
    ours, theirs = words_of_pair(answer, gold)
    return float(ours == theirs)


def token_f1(answer: str, gold: str) -> tuple[float, float, float]:
    """Return precision, recall and F1 of shared words, counting repeated words. Two texts without words score 1."""
    ours, theirs = words_of_pair(answer, gold)
    if not ours or not theirs:
        return (float(ours == theirs),) * 3
    shared = (Counter(ours) & Counter(theirs)).total()
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return precision, recall, 2 * precision * recall / (precision + recall)


def containment(answer: str, gold: str) -> float:
    """Return 1 if the answer contains the gold answer's words, contiguous and in order, otherwise 0.

    Liu et al. (Lost in the Middle, TACL 2024) and Mallen et al. (ACL 2023) call this measure accuracy. Unlike in these
    papers, where "party" contains "art", only complete words match. A gold answer that consists only of articles, such
    as "A", also matches an answer that begins with this article.
    """
    ours, theirs = words_of_pair(answer, gold)
    return float(bool(theirs) and f" {' '.join(theirs)} " in f" {' '.join(ours)} ")
