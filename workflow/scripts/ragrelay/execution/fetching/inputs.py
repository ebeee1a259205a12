"""Download and check a study's files from hubs, ir_datasets and Terrier, on a machine with internet access."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.models.hubs import fetch, hub_file
from ragrelay.base.models.locations import check_adapter, check_model, check_tokenizer
from ragrelay.base.models.model_files import check_gguf_model
from ragrelay.collection.catalogued import IrDatasetsCollection

# Never downloaded: files for other frameworks.
OTHER_FORMATS = ("*.h5", "*.msgpack", "*.ot", "*.onnx", "*.gguf", "*.mlmodel", "*.tflite", "onnx/*", "openvino/*")
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "original/*")
WITHOUT_WEIGHTS = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken", "*.py")


def fetch_input(
    files: Sequence[Mapping[str, Any]] = (), datasets: Sequence[str] = (), terrier: bool = False
) -> dict[str, object]:
    """Download missing files, check that all files are complete, and return a receipt.

    Raises InputError if a download fails. ``files``: downloads, from hub_files. ``datasets``: ids in ir_datasets.
    """
    return {
        "hub": [{**entry, **fetch_hub_files(**entry)} for entry in files],
        "datasets": {dataset_id: fetch_dataset(dataset_id) for dataset_id in datasets},
        "terrier": fetch_terrier() if terrier else None,
    }


def fetch_hub_files(name: str, revision: str | None, part: str, place: str) -> dict[str, object]:
    """Download a model, tokenizer or adapter to the hub's cache (``HF_HOME``); return the commit and the size in bytes.

    Also checks that all required files (configuration, tokenizer, weights) are complete.
    """
    if hub_file(name)[1]:
        path = fetch(name, revision, place)
        check_gguf_model(place, path, tokenizer=False)
        return {"commit": path.parents[name.count("/") - 2].name, "bytes": path.stat().st_size}
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


def fetch_dataset(dataset_id: str) -> dict[str, object]:
    """Download a dataset to ``IR_DATASETS_HOME``, build its document store, and count its queries and qrels."""
    try:
        collection = IrDatasetsCollection(dataset_id)
        queries, qrels = collection.queries(), collection.qrels()
        collection.texts(qrels["docno"].head(1).to_list())
    except InputError:
        raise
    except (OSError, RuntimeError) as error:
        found = f"{dataset_id} unavailable ({_one_line(error)})"
        raise InputError("ir_datasets", found, "a reachable source, or the files in IR_DATASETS_HOME") from error
    return {"queries": len(queries), "qrels": len(qrels)}


def fetch_terrier() -> str:
    """Start PyTerrier, which downloads Terrier's jars to ``PYTERRIER_HOME``, and return Terrier's version."""
    from ragrelay.retrieval.terrier import VERSION, started

    started()
    return VERSION


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
