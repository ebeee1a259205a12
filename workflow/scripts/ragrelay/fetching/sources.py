"""What a study's grid takes from elsewhere, told from its configuration alone: a hub's files, datasets, Terrier."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ragrelay.kinds import Download
from ragrelay.models.hubs import on_hub
from ragrelay.retrieval.retriever import RETRIEVER_KINDS


class Catalogue(Protocol):
    """What is asked of a study: the configuration with only what the grid stands on."""

    def selected(self) -> dict[str, Any]:
        """Section → name → definition."""


def hub_files(study: Catalogue) -> list[dict[str, Any]]:
    """What the grid takes of a hub, each once: name (hub id), revision (null for the newest), part, place (config key).

    ``part`` is `model`, `tokenizer` (all but weights) or `adapter`. A model that is served elsewhere is not fetched.
    """
    found: dict[tuple[str, str | None, str], dict[str, Any]] = {}
    selected = study.selected()
    for section in ("retrievers", "generators", "scorers"):
        for entry, definition in selected[section].items():
            named = RETRIEVER_KINDS.of(definition).downloads() if section == "retrievers" else _named(definition)
            for key, name, revision, part in named:
                if on_hub(name):
                    place = f"config key '{section}.{entry}.{key}'"
                    asked = {"name": name, "revision": revision, "part": part, "place": place}
                    found.setdefault((name, revision, part), asked)
    return list(found.values())


def _named(definition: Mapping[str, Any]) -> Iterator[Download]:
    """Each model, tokenizer and adapter that a catalogue entry names."""
    revision = definition.get("revision")
    if "model" in definition and definition.get("engine") != "openai":
        weights = definition.get("load_format") != "dummy"
        yield Download("model", definition["model"], revision, "model" if weights else "tokenizer")
    if "tokenizer" in definition:
        yield Download("tokenizer", definition["tokenizer"], revision, "tokenizer")
    if "adapter" in definition:
        yield Download("adapter", definition["adapter"], definition.get("adapter_revision"), "adapter")


def catalogued_datasets(study: Catalogue) -> list[str]:
    """Ids of the grid's datasets that ir_datasets downloads."""
    entries = study.selected()["datasets"].values()
    return [entry["id"] for entry in entries if entry["source"] == "ir_datasets"]


def uses_terrier(study: Catalogue) -> bool:
    """Whether a retriever runs on Terrier, whose jars PyTerrier fetches."""
    return any(RETRIEVER_KINDS.of(entry).uses_terrier() for entry in study.selected()["retrievers"].values())
