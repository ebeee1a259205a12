"""Checks of annotation sources beyond the schema: what each needs of the grid and of the other sources."""

from collections.abc import Mapping
from typing import Any

from ragrelay.errors import InputError, one_of
from ragrelay.scoring.scorer import SCORER_KINDS
from ragrelay.vocabulary.orderings import DESCENDING


def check_annotations(config: Mapping[str, Any]) -> None:
    """Raise InputError for a source of the grid that can't work; ``config`` has its defaults, its names are known."""
    grid, catalogue = config["grid"], config["annotations"]
    for name in grid["annotations"]:
        _check_source(f"config key 'annotations.{name}", catalogue[name], catalogue, grid, config["scorers"])
    if not grid["annotations"]:
        return
    depth = config["annotation_depth"]
    if depth > config["context_depth"]:
        expected = f"at most context_depth = {config['context_depth']}"
        raise InputError("config key 'annotation_depth'", str(depth), expected)
    if not label_cutoffs(grid["k"], depth):
        expected = f"a k from 2 to annotation_depth = {depth}, as grid.annotations needs"
        raise InputError("config key 'grid.k'", ", ".join(map(str, grid["k"])), expected)
    if DESCENDING not in grid["orderings"]:
        found, expected = ", ".join(grid["orderings"]), f"also {DESCENDING}, as grid.annotations needs"
        raise InputError("config key 'grid.orderings'", found, expected)


def label_cutoffs(ks: list[int], depth: int) -> list[int]:
    """The cutoffs that labels are aggregated at: at k = 1 an eRAG label is the very P that it is compared with."""
    return [k for k in sorted(ks) if 2 <= k <= depth]


def parts(catalogue: Mapping[str, Any], names: list[str]) -> list[str]:
    """``names`` without combinations, and what those are made of, each once."""
    made = [catalogue[name].get("sources", [name]) for name in names]
    return list(dict.fromkeys(part for some in made for part in some))


def _check_source(
    place: str,
    definition: Mapping[str, Any],
    catalogue: Mapping[str, Any],
    grid: Mapping[str, Any],
    scorers: Mapping[str, Any],
) -> None:
    for name in definition.get("sources", ()):
        singles = [other for other, source in catalogue.items() if source["kind"] != "combination"]
        if name not in singles:
            raise InputError(f"{place}.sources'", repr(name), one_of(singles, name))
        _check_source(f"config key 'annotations.{name}", catalogue[name], catalogue, grid, scorers)
    if definition["kind"] == "erag":
        named = definition.get("scorer")
        if named is not None and named not in grid["scorers"]:
            raise InputError(f"{place}.scorer'", repr(named), one_of(grid["scorers"], named) + " in grid.scorers")
        for name in [named] if named else grid["scorers"]:
            if not SCORER_KINDS.of(scorers[name]).bounded:
                found = f"scorer {name} of kind {scorers[name]['kind']}"
                raise InputError(f"{place}.scorer'", found, "one whose scores are from 0 to 1")
