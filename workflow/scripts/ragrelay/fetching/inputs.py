"""Download and check what a study needs from hubs, ir_datasets and Terrier, where these can be reached."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.collection.catalogued import IrDatasetsCollection
from ragrelay.errors import InputError
from ragrelay.models.hubs import fetch
from ragrelay.models.locations import check_adapter, check_model, check_tokenizer

# What other frameworks would load; fetched only where a model has no safetensors.
OTHER_FORMATS = ("*.h5", "*.msgpack", "*.ot", "*.onnx", "*.gguf", "*.mlmodel", "*.tflite", "onnx/*", "openvino/*")
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "original/*")
WITHOUT_WEIGHTS = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken", "*.py")


def fetch_input(
    files: Sequence[Mapping[str, Any]] = (), datasets: Sequence[str] = (), terrier: bool = False
) -> dict[str, Any]:
    """Download what is missing and check everything; returns a receipt. Raises InputError for a failed download.

    ``files`` is what sources.hub_files gives, ``datasets`` ids of ir_datasets.
    """
    return {
        "hub": [{**entry, **fetch_hub_files(**entry)} for entry in files],
        "datasets": {dataset_id: fetch_dataset(dataset_id) for dataset_id in datasets},
        "terrier": fetch_terrier() if terrier else None,
    }


def fetch_hub_files(name: str, revision: str | None, part: str, place: str) -> dict[str, Any]:
    """Bring a model, its tokenizer or an adapter into the hub's cache (``HF_HOME``); returns commit and size in bytes.

    Checks that configuration, tokenizer and every shard of the weights are there, as far as ``part`` has them.
    """
    if part == "model":
        folder = fetch(name, revision, place, ignore_patterns=[*OTHER_FORMATS, *PICKLED])
        if not any(folder.glob("*.safetensors")):
            folder = fetch(name, revision, place, ignore_patterns=list(OTHER_FORMATS))
        check_model(place, str(folder), tokenizer=True)
    elif part == "tokenizer":
        folder = fetch(name, revision, place, allow_patterns=list(WITHOUT_WEIGHTS))
        check_tokenizer(place, str(folder))
    else:
        folder = fetch(name, revision, place, ignore_patterns=[*OTHER_FORMATS, *PICKLED])
        check_adapter(place, str(folder))
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
        found = f"{dataset_id} unavailable ({_one_line(error)})"
        raise InputError("ir_datasets", found, "its source reachable, or its files in IR_DATASETS_HOME") from error
    return {"queries": len(queries), "qrels": len(qrels)}


def fetch_terrier() -> str:
    """Have PyTerrier fetch Terrier's jars into its home (``PYTERRIER_HOME``) and start; returns Terrier's version."""
    from ragrelay.retrieval.terrier import VERSION, started

    started()
    return VERSION


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
