"""Compute evidence characteristics that may affect how much a model uses the evidence (Hagström et al., section 5)."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.acu import text_characteristics as texts
from ragrelay.annexes.acu.characteristic_columns import SCHEMA
from ragrelay.annexes.acu.entities import detector, overlap
from ragrelay.annexes.acu.judged_evidence import REFERS_FROM
from ragrelay.base.errors import InputError
from ragrelay.base.io.text_lines import numbered_lines

OF_TEXTS: dict[str, Callable[[str, str], Any]] = {
    "claim_evidence_jaccard_sim": texts.jaccard,
    "claim_words_in_evidence": texts.claim_words_in,
    "claim_repeated_in_evidence": texts.repeats,
    "flesch_reading_ease_score": lambda claim, evidence: texts.reading_ease(evidence),
    "claim_length": lambda claim, evidence: len(claim),
    "evidence_length": lambda claim, evidence: len(evidence),
    "hedging_rate": lambda claim, evidence: texts.hedging_rate(evidence),
    "contains_hedging": lambda claim, evidence: texts.hedging_words(evidence) > 0,
    "contains_hedging_phrase": lambda claim, evidence: texts.hedging_phrases(evidence) > 0,
    "contains_true": lambda claim, evidence: texts.contains("true", evidence),
    "contains_false": lambda claim, evidence: texts.contains("false", evidence),
    "refers_external_source": lambda claim, evidence: texts.refers_elsewhere(evidence),
}
"""The function that computes each characteristic from claim and evidence; lengths are in characters."""
VERDICTS = {"true": 5, "half true": 4, "false": 1}
"""The number for each fact-checker's verdict, from Hagström et al. (``VERDICT_NUM_MAP``); others have no number."""


def describe_claims(
    claims: pl.DataFrame,
    entities: str,
    unreliable: Sequence[str] | None,
    reliable: Sequence[str] | None = None,
    judged: pl.DataFrame | None = None,
) -> tuple[pl.DataFrame, str]:
    """Return the characteristics of the evidence in ``claims`` (columns SCHEMA), and the entity detector's name.

    ``entities`` is the entity detector: ``auto``, ``capitalised`` or the name of a spaCy model. ``unreliable`` and
    ``reliable`` are lists of domains; is_unreliable is null if ``unreliable`` is None. ``judged``: a model's judgements
    (columns judged_evidence.COLUMNS), used for refers_external_source; if None, refers_external_source depends on
    whether the evidence contains a web address or a phrase such as "according to".
    """
    name, find = detector(entities)
    pairs = list(claims.select("claim", "evidence").iter_rows())
    shared = map(overlap, find([claim for claim, _ in pairs]), find([evidence for _, evidence in pairs]))
    dates = claims.select("claim_date", "evidence_date").iter_rows()
    columns = {
        **{key: [function(*pair) for pair in pairs] for key, function in OF_TEXTS.items()},
        "id": claims["id"],
        "claim_entity_overlap": list(shared),
        "published_after_claim": [later(claimed, published) for claimed, published in dates],
        "is_factcheck_article": claims["is_factcheck_article"],
        "is_gold": claims["is_gold"],
        "is_unreliable": [
            None if unreliable is None else unreliability(address, factcheck, unreliable, reliable or [])
            for address, factcheck in claims.select("evidence_source", "is_factcheck_article").iter_rows()
        ],
        "relevant": claims["relevant"],
        "factcheck_verdict": [VERDICTS.get((verdict or "").lower()) for verdict in claims["factcheck_verdict"]],
    }
    if judged is not None:
        refers = claims.select("id").join(judged, on="id", how="left", maintain_order="left")["p_refers"]
        columns["refers_external_source"] = (refers >= REFERS_FROM).to_list()
    return pl.DataFrame({key: columns[key] for key in SCHEMA}, schema=SCHEMA), name


def unreliability(
    address: str | None, factcheck: bool | None, unreliable: Sequence[str], reliable: Sequence[str]
) -> bool | None:
    """Return whether evidence comes from an unreliable website; None if the website is unknown.

    The result is True for domains in ``unreliable``, and False for fact-check articles, government and university
    websites, and domains in ``reliable``. The rules are from Hagström et al., ACL 2025.
    """
    if factcheck:
        return False
    if address is None:
        return None
    if texts.listed(unreliable, address):
        return True
    return False if texts.listed(reliable, address) or texts.official(address) else None


def later(claimed: str | None, published: str | None) -> bool | None:
    """Return whether the evidence is dated later than the claim; None if a date is missing or isn't in ISO format."""
    days = [_day(text) for text in (claimed, published)]
    return None if days[0] is None or days[1] is None else days[1] > days[0]


def domains(path: Path) -> list[str]:
    """Read a list of domains, one per line; ``#`` starts a comment. Raises InputError for complete web addresses."""
    names = []
    for number, line in numbered_lines(path):
        domain = line.partition("#")[0].strip().lower().removeprefix("www.")
        if "/" in domain or " " in domain:
            raise InputError(f"{path}, line {number}", repr(domain), "a domain, such as example.org")
        names += [domain] if domain else []
    return names


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None
