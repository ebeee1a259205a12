"""Words of short answers in common, on texts normalised as SQuAD does it.

Source of the normalisation, exact match and F1: Rajpurkar et al., SQuAD, EMNLP 2016, and its evaluation script.
"""

import re
import string
from collections import Counter

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def words(text: str) -> list[str]:
    """Return words of ``text``: lower case, without ASCII punctuation and English articles."""
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()


def exact_match(answer: str, gold: str) -> float:
    """1 where the two have the same words in the same order, else 0."""
    return float(words(answer) == words(gold))


def token_f1(answer: str, gold: str) -> tuple[float, float, float]:
    """Precision, recall and F1 of words in common, with their counts; where either has none, 1 if both, else 0."""
    ours, theirs = words(answer), words(gold)
    if not ours or not theirs:
        return (float(ours == theirs),) * 3
    shared = (Counter(ours) & Counter(theirs)).total()
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return precision, recall, 2 * precision * recall / (precision + recall)


def containment(answer: str, gold: str) -> float:
    """1 if the gold answer's words are in the answer, together and in order, else 0.

    The accuracy of Liu et al., Lost in the Middle, TACL 2024, and of Mallen et al., ACL 2023, for whole words: there
    "art" is found in "party", here it isn't. A gold answer of articles and punctuation alone is in no answer.
    """
    ours, theirs = words(answer), words(gold)
    return float(bool(theirs) and f" {' '.join(theirs)} " in f" {' '.join(ours)} ")
