"""Check the config key ``published`` when Snakemake starts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from ragrelay.annexes.reproduction.published import LAYOUTS, Row, read_published
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.grid import GridSettings
from ragrelay.base.kinds import CheckedStudy

PLACE = "config key 'published"


class ComparedStudy(Protocol):
    """A study whose reference sets can be looked up."""

    folder: Path
    config: dict[str, Any]
    grid: GridSettings

    def reference_sets(self, dataset: str, scorer: str) -> dict[str, int]:
        """Return the reference sets for ``dataset`` that ``scorer`` uses, keyed by name."""


def check_published(study: CheckedStudy) -> None:
    """Raise InputError if a published table can't be read, or if ``names`` contains an unknown name."""
    config, entry = study.config, study.config.get("published")
    if entry is None:
        return
    tables = {kind: read_published(study.folder / entry[kind], kind, {}) for kind in LAYOUTS if kind in entry}
    if not tables:
        raise InputError(PLACE + "'", "no table", one_of(LAYOUTS))
    for section, names in entry["names"].items():
        published = {
            row[key]
            for kind, rows in tables.items()
            for key, named in LAYOUTS[kind].sections.items()
            for row in rows
            if named == section
        }
        for theirs, ours in names.items():
            if theirs not in published:
                raise InputError(f"{PLACE}.names.{section}'", repr(theirs), one_of(sorted(published), theirs))
            if section in config and ours not in config[section]:
                raise InputError(f"{PLACE}.names.{section}.{theirs}'", repr(ours), one_of(config[section], ours))
    of_labels = ("grid.annotations", config["grid"]["annotations"])
    needed = {"labels": of_labels, "label_cost": of_labels, "claims": ("acu", config.get("acu"))}
    for kind, (key, present) in needed.items():
        if kind in tables and not present:
            raise InputError(f"{PLACE}.{kind}'", "a table that matches nothing in this study", f"a value for '{key}'")


def common_rows(study: ComparedStudy) -> dict[str, list[Row]]:
    """Return each published table's rows that are also in the study. Raises InputError if there are no such rows."""
    entry, grid, acu = study.config.get("published"), study.grid, study.config.get("acu") or {}
    annotations, measures = (study.config["grid"][key] for key in ("annotations", "annotation_measures"))
    if entry is None:
        expected = f"a published table, e.g. {{utility: resources/published/tian2025_table1.csv}}; {one_of(LAYOUTS)}"
        raise InputError(PLACE + "'", "no value", expected)
    known: dict[str, dict[str, Sequence[object]]] = {
        "utility": {"dataset": grid.datasets, "retriever": grid.retrievers, "ordering": grid.orderings,
                    "k": grid.k},
        "labels": {"dataset": grid.datasets, "retriever": grid.retrievers, "annotation": annotations,
                   "measure": measures},
        "label_cost": {"dataset": grid.datasets if annotations else []},
        "claims": {"model": acu.get("generators", []), "dataset": acu.get("claims", [])},
    }  # fmt: skip
    grades = {d: {name for s in grid.scorers for name in study.reference_sets(d, s)} for d in grid.datasets}

    def common(kind: str, row: Row) -> bool:
        named = all(row[name] in names for name, names in known[kind].items())
        return named and (kind != "utility" or row["references"] in grades[row["dataset"]])

    by_kind = {
        kind: [row for row in read_published(study.folder / entry[kind], kind, entry["names"]) if common(kind, row)]
        for kind in LAYOUTS
        if kind in entry
    }
    if not any(by_kind.values()):
        tables = ", ".join(str(entry[kind]) for kind in by_kind)
        raise InputError(PLACE + "'", f"nothing from this study in {tables}", "the grid's names (map them in 'names')")
    return by_kind
