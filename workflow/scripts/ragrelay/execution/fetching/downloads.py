"""List the downloads that a study's grid needs: hub files, datasets and Terrier."""

from collections.abc import Mapping
from typing import Any, Protocol

from ragrelay.base.io.hashing import value_hash
from ragrelay.base.kinds import Kinds
from ragrelay.base.models.hubs import on_hub
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.scoring.scorer import SCORER_KINDS

TERRIER = "terrier"
KINDS: dict[str, Kinds[Any]] = {
    "retrievers": RETRIEVER_KINDS,
    "generators": GENERATOR_KINDS,
    "scorers": SCORER_KINDS,
}


class Catalogue(Protocol):
    """A study's catalogue, from which the required downloads are derived."""

    def selected(self) -> dict[str, Any]:
        """Return the catalogue entries that the study uses, by section and name."""


def required_downloads(study: Catalogue) -> dict[str, dict[str, Any]]:
    """Return the downloads that the grid needs, as a mapping from name to arguments for fetch_input."""
    hub = {_hub_name(file["name"], file["revision"], file["part"]): {"files": [file]} for file in hub_files(study)}
    datasets = {_name(dataset_id): {"datasets": [dataset_id]} for dataset_id in catalogued_datasets(study)}
    return {**hub, **datasets, **({TERRIER: {"terrier": True}} if uses_terrier(study) else {})}


def downloads_of(section: str, definition: Mapping[str, object]) -> list[str]:
    """Return the names of a catalogue entry's downloads, which are keys in the result of required_downloads."""
    downloads = KINDS[section].of(definition).downloads() if section in KINDS else ()
    names = [_hub_name(name, revision, part) for _, name, revision, part in downloads if on_hub(name)]
    if section == "datasets" and (catalogued := DATASET_KINDS.of(definition).catalogued()):
        names.append(_name(catalogued))
    if section == "retrievers" and RETRIEVER_KINDS.of(definition).uses_terrier():
        names.append(TERRIER)
    return names


def _hub_name(name: str, revision: str | None, part: str) -> str:
    return _name(name.rpartition("/")[2], name, revision, part)


def _name(readable: str, *decisive: object) -> str:
    """Turn an id into a file name."""
    return f"{readable.replace('/', '-')}-{value_hash([readable, *decisive], 8)}"


def hub_files(study: Catalogue) -> list[dict[str, Any]]:
    """Return the distinct hub downloads that the grid needs, each with name (the hub id), revision, part and place.

    ``revision`` may be None. ``part`` is `model`, `tokenizer` (all files except weights) or `adapter`. ``place`` is the
    configuration key to name in error messages. Models that run on servers aren't downloaded.
    """
    files: dict[tuple[str, str | None, str], dict[str, Any]] = {}
    selected = study.selected()
    for section, kinds in KINDS.items():
        for entry, definition in selected[section].items():
            for key, name, revision, part in kinds.of(definition).downloads():
                if on_hub(name):
                    place = f"config key '{section}.{entry}.{key}'"
                    file = {"name": name, "revision": revision, "part": part, "place": place}
                    files.setdefault((name, revision, part), file)
    return list(files.values())


def catalogued_datasets(study: Catalogue) -> list[str]:
    """Return the ids of the grid's datasets that are loaded with ir_datasets."""
    ids = (DATASET_KINDS.of(entry).catalogued() for entry in study.selected()["datasets"].values())
    return [dataset_id for dataset_id in ids if dataset_id]


def uses_terrier(study: Catalogue) -> bool:
    """Return whether any retriever runs on Terrier, whose jars PyTerrier downloads."""
    return any(RETRIEVER_KINDS.of(entry).uses_terrier() for entry in study.selected()["retrievers"].values())
