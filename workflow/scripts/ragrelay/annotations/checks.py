"""What a study takes of its annotation sources: the cutoffs of their labels, and the parts of combinations."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annotations.source import SOURCE_KINDS

PEOPLE_KINDS = ("qrels", "file")
"""Kinds of sources whose labels may be people's."""


def label_cutoffs(ks: list[int], depth: int) -> list[int]:
    """The cutoffs that labels are aggregated at: at k = 1 an eRAG label is the very P that it is compared with."""
    return [k for k in sorted(ks) if 2 <= k <= depth]


def parts(catalogue: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """``names`` without combinations, and what those are made of, each once."""
    made = [SOURCE_KINDS.of(catalogue[name]).parts(name) for name in names]
    return list(dict.fromkeys(part for some in made for part in some))
