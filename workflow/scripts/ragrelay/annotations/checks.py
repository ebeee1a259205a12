"""Find the cutoffs at which a study aggregates labels, and the sources that combinations are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annotations.source import SOURCE_KINDS

PEOPLE_KINDS = ("qrels", "file")
"""Kinds of sources whose labels may be people's."""


def label_cutoffs(ks: list[int], depth: int) -> list[int]:
    """The cutoffs at which labels are aggregated. k = 1 is left out: there, an eRAG label equals P, its own target."""
    return [k for k in sorted(ks) if 2 <= k <= depth]


def parts(catalogue: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """``names`` with each combination replaced by its parts, each name once."""
    made = [SOURCE_KINDS.of(catalogue[name]).parts(name) for name in names]
    return list(dict.fromkeys(part for some in made for part in some))
