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
SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "claim_evidence_jaccard_sim": pl.Float64,
    "claim_words_in_evidence": pl.Float64,
    "claim_repeated_in_evidence": pl.Boolean,
    "claim_entity_overlap": pl.Float64,
    "flesch_reading_ease_score": pl.Float64,
    "claim_length": pl.Int64,
    "evidence_length": pl.Int64,
    "hedging_rate": pl.Float64,
    "contains_true": pl.Boolean,
    "contains_false": pl.Boolean,
    "refers_external_source": pl.Boolean,
    "published_after_claim": pl.Boolean,
    "is_factcheck_article": pl.Boolean,
    "is_gold": pl.Boolean,
    "is_unreliable": pl.Boolean,
}
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
