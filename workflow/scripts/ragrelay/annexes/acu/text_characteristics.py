"""Compute characteristics of evidence from its words: similarity to the claim, readability, hedging and references."""

import re
from collections.abc import Sequence

from ragrelay.base.readability import flesch_reading_ease

WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
HEDGES = (
    "about", "allegedly", "apparently", "appear", "appears", "approximately", "around", "arguably", "assume", "assumed",
    "believe", "believed", "believes", "could", "doubt", "doubtful", "doubts", "estimate", "estimated", "generally",
    "guess", "likely", "may", "maybe", "might", "mostly", "often", "perhaps", "possible", "possibly", "presumably",
    "probable", "probably", "reckons", "reportedly", "roughly", "rumoured", "rumored", "seem", "seemed", "seems",
    "seldom", "sometimes", "somewhat", "suggest", "suggested", "suggests", "suppose", "supposed", "supposedly",
    "suspect", "tend", "tends", "uncertain", "unclear", "unlikely", "unsure", "usually", "wonder",
)  # fmt: skip
HEDGING_PHRASES = (
    "as far as we know", "can not be sure", "cannot be ruled out", "could not say", "could not tell", "hard to say",
    "in some cases", "is said to", "it is not known", "more or less", "not certain", "not clear", "not known",
    "some say", "to some extent",
)  # fmt: skip
"""This project's own lexicon of words and phrases that make a statement less than certain."""
REFERRING = (
    "according to", "a study", "a report", "an article", "as reported by", "data from", "figures from", "in a study",
    "in an interview", "researchers found", "researchers say", "statistics from", "studies", "survey", "told reporters",
    "the study", "the report", "trials", "was quoted", "were quoted",
)  # fmt: skip
ADDRESS = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
VERDICT = {word: re.compile(rf"\b{word}\b", re.IGNORECASE) for word in ("true", "false")}


def _words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, without surrounding punctuation."""
    return [match[0].lower() for match in WORD.finditer(text)]


def jaccard(claim: str, evidence: str) -> float | None:
    """Return the Jaccard similarity of the two texts' sets of words, or None if neither text contains a word."""
    of_claim, of_evidence = set(_words(claim)), set(_words(evidence))
    return len(of_claim & of_evidence) / len(of_claim | of_evidence) if of_claim | of_evidence else None


def claim_words_in(claim: str, evidence: str) -> float | None:
    """Return the share of the claim's distinct words that occur in the evidence, or None if the claim has no words."""
    of_claim = set(_words(claim))
    return len(of_claim & set(_words(evidence))) / len(of_claim) if of_claim else None


def repeats(claim: str, evidence: str) -> bool | None:
    """Return whether the evidence contains all the claim's words in sequence, or None if the claim has no words."""
    joined = " ".join(_words(claim))
    return f" {joined} " in f" {' '.join(_words(evidence))} " if joined else None


def reading_ease(text: str) -> float | None:
    """Return the Flesch reading ease (``ragrelay.base.readability``), or None if the text has no words."""
    return flesch_reading_ease(text) if _words(text) else None


def hedging_words(text: str) -> int:
    """Count the words in ``text`` that are in HEDGES."""
    return sum(word in HEDGES for word in _words(text))


def hedging_phrases(text: str) -> int:
    """Count the occurrences of HEDGING_PHRASES in ``text``."""
    joined = f" {' '.join(_words(text))} "
    return sum(joined.count(f" {phrase} ") for phrase in HEDGING_PHRASES)


def hedging_rate(text: str) -> float | None:
    """Return the number of hedging words and phrases divided by the number of words, or None if there are no words."""
    length = len(_words(text))
    return (hedging_words(text) + hedging_phrases(text)) / length if length else None


def contains(word: str, text: str) -> bool:
    """Return whether ``text`` contains ``word`` (``true`` or ``false``), ignoring case."""
    return VERDICT[word].search(text) is not None


def refers_elsewhere(text: str) -> bool:
    """Return whether ``text`` refers to another source: whether it contains a web address or a phrase in REFERRING."""
    joined = f" {' '.join(_words(text))} "
    return ADDRESS.search(text) is not None or any(f" {phrase} " in joined for phrase in REFERRING)


def host_of(address: str) -> str:
    """Return the host name from a web address or domain, in lower case."""
    return re.sub(r"^[a-z][a-z0-9+.-]*://", "", address.strip().lower()).split("/")[0].rpartition("@")[2].split(":")[0]


def listed(domains: Sequence[str], address: str) -> bool:
    """Return whether ``address`` (a web address or domain) belongs to one of ``domains`` or their subdomains."""
    host = host_of(address)
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def official(address: str) -> bool:
    """Return whether a web address or domain belongs to a government or university (.gov, .gov.* or .edu).

    The rule follows ``src/property_detection`` by Hagström et al., ACL 2025.
    """
    host = host_of(address)
    return host.endswith((".gov", ".edu")) or ".gov." in host
