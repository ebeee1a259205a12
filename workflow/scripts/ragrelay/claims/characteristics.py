"""Characteristics of evidence that may decide how much a model uses it (Hagström et al., ACL 2025, section 5)."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.claims import text_characteristics as texts
from ragrelay.claims.entities import detector, overlap
from ragrelay.errors import InputError
from ragrelay.io.text_lines import numbered_lines
from ragrelay.vocabulary.columns import real, schema_of, text, truth, whole

OF_TEXTS: dict[str, Callable[[str, str], Any]] = {
    "claim_evidence_jaccard_sim": texts.jaccard,
    "claim_words_in_evidence": texts.claim_words_in,
    "claim_repeated_in_evidence": texts.repeats,
    "flesch_reading_ease_score": lambda claim, evidence: texts.reading_ease(evidence),
    "claim_length": lambda claim, evidence: len(claim),
    "evidence_length": lambda claim, evidence: len(evidence),
    "hedging_rate": lambda claim, evidence: texts.hedging_rate(evidence),
    "contains_true": lambda claim, evidence: texts.contains("true", evidence),
    "contains_false": lambda claim, evidence: texts.contains("false", evidence),
    "refers_external_source": lambda claim, evidence: texts.refers_elsewhere(evidence),
}
"""By name: a function of claim and evidence; lengths in characters."""
OF_MODELS = ("evidence_perplexity", "memory_conflict")
"""Those that depend on the generator, from the table of pairs."""
COLUMNS = {
    "id": text("id of the pair of claim and evidence"),
    "claim_evidence_jaccard_sim": real("Jaccard similarity of the words of claim and evidence", "0 to 1"),
    "claim_words_in_evidence": real("share of the claim's words that are in the evidence", "0 to 1"),
    "claim_repeated_in_evidence": truth("whether the evidence repeats the claim"),
    "claim_entity_overlap": real("share of the claim's entities that are in the evidence", "0 to 1"),
    "flesch_reading_ease_score": real("Flesch's reading ease of the evidence"),
    "claim_length": whole("length of the claim", "characters"),
    "evidence_length": whole("length of the evidence", "characters"),
    "hedging_rate": real("hedging words and phrases of the evidence per word"),
    "contains_true": truth("whether the evidence contains “true”"),
    "contains_false": truth("whether the evidence contains “false”"),
    "refers_external_source": truth("whether the evidence refers to a source elsewhere"),
    "published_after_claim": truth("whether the evidence is of a later day than the claim; empty without two dates"),
    "is_factcheck_article": truth("whether the evidence is a fact-check article, as the claims' file says"),
    "is_gold": truth("whether the evidence is gold, as the claims' file says"),
    "is_unreliable": truth("whether the evidence's domain is on the list of unreliable sources; empty without a list"),
}
SCHEMA = schema_of(COLUMNS)
NAMES = tuple(name for name in SCHEMA if name != "id") + OF_MODELS


def characteristics(claims: pl.DataFrame, entities: str, unreliable: Sequence[str] | None) -> tuple[pl.DataFrame, str]:
    """The characteristics of ``claims`` (columns SCHEMA) and the name of the detector of entities.

    ``entities``: see entities.detector. ``unreliable``: domains; without a list is_unreliable is null, as is whatever
    the claims' own columns don't tell.
    """
    name, find = detector(entities)
    pairs = list(claims.select("claim", "evidence").iter_rows())
    shared = map(overlap, find([claim for claim, _ in pairs]), find([evidence for _, evidence in pairs]))
    dates = claims.select("claim_date", "evidence_date").iter_rows()
    columns = {
        **{key: [function(*pair) for pair in pairs] for key, function in OF_TEXTS.items()},
        "id": claims["id"],
        "claim_entity_overlap": list(shared),
        "published_after_claim": [later(*both) for both in dates],
        "is_factcheck_article": claims["is_factcheck_article"],
        "is_gold": claims["is_gold"],
        "is_unreliable": [
            None if unreliable is None or source is None else texts.listed(unreliable, source)
            for source in claims["evidence_source"]
        ],
    }
    return pl.DataFrame({key: columns[key] for key in SCHEMA}, schema=SCHEMA), name


def later(claimed: str | None, published: str | None) -> bool | None:
    """Whether the evidence is of a later day than the claim; None where either date is missing or not ISO 8601."""
    days = [_day(text) for text in (claimed, published)]
    return None if days[0] is None or days[1] is None else days[1] > days[0]


def domains(path: Path) -> list[str]:
    """The domains of a list, one a line, in lower case; ``#`` begins a comment. Raises InputError for an address."""
    found = []
    for number, line in numbered_lines(path):
        domain = line.partition("#")[0].strip().lower().removeprefix("www.")
        if "/" in domain or " " in domain:
            raise InputError(f"{path}, line {number}", repr(domain), "a domain, such as example.org")
        found += [domain] if domain else []
    return found


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None
