"""Compare the words of short answers after SQuAD's normalisation.

Source of the normalisation, exact match and F1: Rajpurkar et al., SQuAD, EMNLP 2016, and its evaluation script, with
two differences: texts that look alike are equal (characters.plain), and punctuation in any script is removed, as in the
evaluation of MLQA (Lewis et al., ACL 2020). A text that consists of articles, such as the option "A", keeps them.
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
    """Return the words in ``text`` in lower case, without punctuation and English articles.

    If nothing else is left, the articles stay; if there are none either, the punctuation stays.
    """
    lowered = plain(text).lower()
    bare = lowered.translate(_PUNCTUATION)
    return ARTICLES.sub(" ", bare).split() or bare.split() or lowered.split()


def words_of_pair(answer: str, gold: str) -> tuple[list[str], list[str]]:
    """Return the words of both texts.

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
    """Return precision, recall and F1 of shared words, with multiplicity; without words, 1 if both texts have none."""
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

    This is the accuracy in Liu et al., Lost in the Middle, TACL 2024, and in Mallen et al., ACL 2023, except that only
    complete words count: in those papers, "party" contains "art". A gold answer that consists of articles, such as "A",
    also counts as contained in an answer that begins with that article.
    """
    ours, theirs = words_of_pair(answer, gold)
    return float(bool(theirs) and f" {' '.join(theirs)} " in f" {' '.join(ours)} ")
