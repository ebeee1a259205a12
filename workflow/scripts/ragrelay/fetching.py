"""What a study needs of hubs and of ir_datasets' sources, fetched and checked where they can be reached."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ragrelay.collection.catalogued import IrDatasetsCollection
from ragrelay.config.models import check_model
from ragrelay.errors import InputError
from ragrelay.hubs import FETCHED, offline, on_hub

# What other frameworks would load; fetched only where a model has no safetensors.
OTHER_FORMATS = ("*.h5", "*.msgpack", "*.ot", "*.onnx", "*.gguf", "*.mlmodel", "*.tflite", "onnx/*", "openvino/*")
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "original/*")


class Catalogue(Protocol):
    """What is asked of a study: its configuration, and the retrievers that the grid's stand on."""

    config: dict[str, Any]
    grid: dict[str, list[Any]]

    def needed_retrievers(self) -> list[str]:
        """Names of retrievers."""


def hub_models(study: Catalogue) -> list[dict[str, Any]]:
    """Models of a hub that the grid uses, each once: model, revision (null for the newest), place in the config."""
    names = {"generators": study.grid["generators"], "scorers": study.grid["scorers"]}
    names["retrievers"] = study.needed_retrievers()
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for section in names:
        for name in names[section]:
            entry = study.config[section][name]
            if "model" in entry and on_hub(entry["model"]):
                place = f"config key '{section}.{name}.model'"
                key = (entry["model"], entry.get("revision"))
                found.setdefault(key, {"model": key[0], "revision": key[1], "place": place})
    return list(found.values())


def catalogued_datasets(study: Catalogue) -> list[str]:
    """Ids of the grid's datasets that ir_datasets downloads."""
    entries = [study.config["datasets"][name] for name in study.grid["datasets"]]
    return [entry["id"] for entry in entries if entry["source"] == "ir_datasets"]


def fetch_all(models: Sequence[Mapping[str, Any]], datasets: Sequence[str]) -> dict[str, Any]:
    """Fetch what is not there and check all of it; returns a receipt. Raises InputError for what can't be had."""
    return {
        "models": {entry["model"]: fetch_model(**entry) for entry in models},
        "datasets": {dataset_id: fetch_dataset(dataset_id) for dataset_id in datasets},
    }


def fetch_model(model: str, revision: str | None, place: str) -> dict[str, Any]:
    """Bring a hub model into the hub's cache (``HF_HOME``); returns its commit and size in bytes.

    Checks that configuration, tokenizer and every shard of the weights are there.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        folder = Path(snapshot_download(model, revision=revision, ignore_patterns=[*OTHER_FORMATS, *PICKLED]))
        if not any(folder.glob("*.safetensors")):
            folder = Path(snapshot_download(model, revision=revision, ignore_patterns=list(OTHER_FORMATS)))
    except OSError as error:
        raise InputError(place, f"{model!r} not to be had ({_one_line(error)})", _hub_expected()) from error
    check_model(place, str(folder), tokenizer=True)
    for index in folder.glob("*.index.json"):
        for shard in sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())):
            if index.name.startswith("model.safetensors") and not (folder / shard).is_file():
                raise InputError(place, f"no {shard} of {model!r} in the hub's cache", FETCHED)
    return {"commit": folder.name, "bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())}


def fetch_dataset(dataset_id: str) -> dict[str, Any]:
    """Bring a dataset of ir_datasets (to ``IR_DATASETS_HOME``) and build its document store; returns counts."""
    try:
        collection = IrDatasetsCollection(dataset_id)
        queries, qrels = collection.queries(), collection.qrels()
        collection.texts(qrels["docno"].head(1).to_list())
    except InputError:
        raise
    except (OSError, RuntimeError) as error:
        found = f"{dataset_id} not to be had ({_one_line(error)})"
        raise InputError("ir_datasets", found, "its source reachable, or its files in IR_DATASETS_HOME") from error
    return {"queries": len(queries), "qrels": len(qrels)}


def _hub_expected() -> str:
    if offline():
        return "it in the hub's cache, as HF_HUB_OFFLINE is set; unset that to fetch it"
    return "a hub that can be reached (HF_ENDPOINT), an id that is there, and HF_TOKEN where it asks for one"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
