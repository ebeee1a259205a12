"""The fingerprint: a hash of all that decides an answer besides its prompt and seed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ragrelay.config.models import model_identity
from ragrelay.errors import InputError
from ragrelay.hashing import value_hash

Started = TypeVar("Started")

DECISIVE = (
    "dtype",
    "quantization",
    "kv_cache_dtype",
    "max_model_len",
    "over_window",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "max_tokens",
    "stop",
    "trust_remote_code",
)


def fingerprint(generator: Mapping[str, Any], folder: str | Path = ".", cache_dir: str | Path | None = None) -> str:
    """16 hex digits that change with whatever decides the text of an answer.

    The model counts by its weights' and tokenizer's hash (a local folder) or by id and revision (a hub), so that a
    folder that is moved keeps its answers. The prompt template does not count: prompts are keys of their own.
    """
    kept = Path(cache_dir) if cache_dir else None
    identity = model_identity(generator["model"], generator.get("revision"), Path(folder), kept)
    decisive = {key: generator[key] for key in DECISIVE if key in generator}
    # How weights are read decides nothing, unless they are made up.
    if generator.get("load_format") == "dummy":
        decisive["load_format"] = "dummy"
    return value_hash({"model": identity, **decisive})


def checked_start(
    generator: Mapping[str, Any], expected: str, start: Callable[[], Started], cache_dir: str | Path | None = None
) -> Started:
    """What ``start()`` gives, if the model's files are those of fingerprint ``expected`` before it and after it.

    Raises InputError where they are not: a folder that is written to while a study runs would put the answers of two
    models under one fingerprint. Kept hashes make the look a matter of file sizes and times.
    """
    _check_model(generator, expected, cache_dir)
    started = start()
    _check_model(generator, expected, cache_dir)
    return started


def _check_model(generator: Mapping[str, Any], expected: str, cache_dir: str | Path | None) -> None:
    found = fingerprint(generator, cache_dir=cache_dir)
    if found != expected:
        changed = f"files other than when the study was started (fingerprint {found})"
        raise InputError(f"model {generator['model']}", changed, f"those of fingerprint {expected}; start it again")
