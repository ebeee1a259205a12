"""Compare the words of short answers, normalised as in SQuAD.

Source of the normalisation, exact match and F1: Rajpurkar et al., SQuAD, EMNLP 2016, and its evaluation script.
"""

import re
import string
from collections import Counter

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, without ASCII punctuation and English articles."""
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()


def exact_match(answer: str, gold: str) -> float:
    """Return 1 if both texts have the same words in the same order, else 0."""
    return float(words(answer) == words(gold))


def token_f1(answer: str, gold: str) -> tuple[float, float, float]:
    """Return precision, recall and F1 of shared words, with multiplicity; if a text has no words, 1 if neither has."""
    ours, theirs = words(answer), words(gold)
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
    words: there, "party" contains "art". A gold answer with only articles and punctuation is in no answer.
    """
    ours, theirs = words(answer), words(gold)
    return float(bool(theirs) and f" {' '.join(theirs)} " in f" {' '.join(ours)} ")
