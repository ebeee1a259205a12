"""The fingerprint: a hash of all that decides an answer besides its prompt and seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.config.models import model_identity
from ragrelay.hashing import value_hash

DECISIVE = (
    "dtype",
    "quantization",
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
    return value_hash({"model": identity, **{key: generator[key] for key in DECISIVE if key in generator}})
