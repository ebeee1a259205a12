"""Scorers for gold answers: exact match, token F1 and containment, on texts normalised as SQuAD does it."""

from collections.abc import Callable, Mapping
from typing import Any

from ragrelay.scoring.pairs import PairScorer
from ragrelay.scoring.squad import containment, exact_match, token_f1

# Raised by hand when a change in squad.py changes scores.
NUMERICS = 1

PAIRS: dict[str, Callable[[str, str], Any]] = {
    "exact_match": exact_match,
    "token_f1": token_f1,
    "containment": containment,
}


def gold_scorer(definition: Mapping[str, Any]) -> PairScorer:
    """The scorer of a kind in PAIRS."""
    kind = definition["kind"]
    return PairScorer({"kind": kind, "numerics": NUMERICS}, PAIRS[kind])
