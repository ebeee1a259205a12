"""List the differences between studies (configuration, data, software), and where each study's results come from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragrelay.annexes.compare.compared import SideStudy
from ragrelay.annexes.compare.studies import Finished
from ragrelay.base.annex import annexes
from ragrelay.report.data_hashes import data_hashes
from ragrelay.report.display.numbers import MISSING
from ragrelay.report.display.outputs import resolve

CONFIGURATION, DATA = "Configuration", "Data (number of rows and their hash)"
SOFTWARE = "Software and answer fingerprints"
EQUAL = {
    CONFIGURATION: "The configurations are identical.",
    DATA: "Queries, judgements, gold answers, runs, labels and corpus are identical.",
    SOFTWARE: "Software and answer fingerprints are identical.",
}
"""The sentence that the page shows instead of a table if nothing under a heading differs."""
NAMED = ("retrievers", "generators", "scorers", "datasets")
"""Sections of the catalogue; an entry missing from a study gets a single row, not one row per key."""
WHAT = ("run", "passages of", "processor of")
"""The data that belong to a single retriever, as worded in row names."""
FIRST = ("retrievers", "grid", "generators", "scorers", "datasets")
"""Keys that are listed first if they differ, in this order."""


@dataclass(frozen=True)
class Group:
    """Rows that share a heading, in a table with a column for each study."""

    heading: str
    rows: Sequence[tuple[str, Sequence[str]]]


def differences(sides: Sequence[SideStudy]) -> list[Group]:
    """Return the differences between studies in configuration, compared datasets, engines and versions."""
    studies = [side.study for side in sides]
    configs = [_entries({**study.config, "study": None}, [other.config for other in studies]) for study in studies]
    order = {name: place for place, name in enumerate(FIRST)}
    rows = sorted(_differing(configs), key=lambda row: order.get(row[0].partition(".")[0], len(order)))
    groups = [
        Group(CONFIGURATION, rows),
        Group(DATA, list(_differing([_data(side) for side in sides]))),
        Group(SOFTWARE, list(_differing([dict(_versions(study)) for study in studies]))),
    ]
    return [group for group in groups if group.rows]


def provenance(sides: Sequence[SideStudy]) -> list[Group]:
    """Return each study's results folder, commit, engines, fingerprints and versions, even if they are all equal."""
    values = [{"results": str(side.study.folder), **dict(_versions(side.study))} for side in sides]
    return [Group("Origin", list(_rows(values)))]


def _rows(values: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, list[str]]]:
    for key in dict.fromkeys(key for each in values for key in each):
        yield key, [each.get(key, MISSING) for each in values]


def _differing(values: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, list[str]]]:
    return ((key, row) for key, row in _rows(values) if len(set(row)) > 1)


def _entries(config: Mapping[str, object], configs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Flatten a configuration; a catalogue entry that another study lacks becomes a single value."""
    found: dict[str, str] = {}
    for key, value in config.items():
        if key in NAMED and isinstance(value, Mapping):
            for name, definition in value.items():
                if all(name in other.get(key, {}) for other in configs):
                    found |= dict(_flattened(definition, f"{key}.{name}"))
                else:
                    found[f"{key}.{name}"] = "; ".join(f"{inner}: {held}" for inner, held in _flattened(definition))
        else:
            found |= dict(_flattened(value, key))
    return found


def _flattened(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted keys of a configuration with their values as text."""
    if isinstance(value, Mapping):
        for name, inside in value.items():
            yield from _flattened(inside, f"{key}.{name}" if key else str(name))
    else:
        yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _data(side: SideStudy) -> dict[str, str]:
    """Return each kind of data's row count and hash, keyed by the first study's dataset and retriever names."""
    of_annexes = [resolve(annex.hashes) for annex in annexes() if annex.hashes]
    named = {own: first for first, own in side.retrievers}
    taken = {name: f"{name} (no counterpart)" for name in named.values()} | named
    kinds = {f"{what} {own}": f"{what} {name}" for own, name in taken.items() for what in WHAT}
    found: dict[str, str] = {}
    for first, own in dict.fromkeys(pair.dataset for pair in side.pairs):
        hashes = data_hashes(side.study.folder, own, side.study.config, of_annexes)
        data = {kinds.get(kind, kind): " ".join(map(str, held.values())) for kind, held in hashes.items()}
        found |= {f"{kind} of {first}": values for kind, values in data.items()}
    return found


def _versions(study: Finished) -> Iterator[tuple[str, str]]:
    provenance = study.provenance
    yield "commit of ragrelay", str(provenance.get("commit"))
    for name, about in (provenance.get("generators") or {}).items():
        engine = [str(about[key]) for key in ("engine", "version", "device") if about.get(key) is not None]
        yield f"engine of {name}", " ".join(engine) or MISSING
        yield f"fingerprint of {name}", str(about.get("fingerprint"))
    yield from ((name, str(version)) for name, version in (provenance.get("versions") or {}).items())
