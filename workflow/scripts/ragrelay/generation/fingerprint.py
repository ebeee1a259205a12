"""The fingerprint: a hash of everything that determines an answer except its prompt and seed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ragrelay.errors import InputError
from ragrelay.generation.generator import GENERATOR_KINDS, PENALTIES
from ragrelay.io.hashing import value_hash

Started = TypeVar("Started")

# Keys added later. At the value that was fixed before, they don't change the fingerprint, so old answers serve.
LATER = ("chat", "chat_template_kwargs", "date", *PENALTIES)


def fingerprint(generator: Mapping[str, Any], folder: str | Path = ".", cache_dir: str | Path | None = None) -> str:
    """16 hex digits that change with everything that affects the text of an answer.

    Models, adapters and tokenizers count by a hash of their files (a local folder) or by id and revision (a hub), so
    that a folder that is moved keeps its answers; which keys count is the engine's to say. The prompt template doesn't:
    prompts are keys of their own. ``thinking`` doesn't, since the store keeps the whole text, unless its marks are
    special tokens, which texts have only since these marks are kept (thought_marks.keeps_special_tokens).
    """
    engine = GENERATOR_KINDS[generator["engine"]]
    before = {key: engine.model_fields[key].default for key in LATER if key in engine.model_fields}
    later = {key: generator[key] for key, value in before.items() if generator.get(key, value) != value}
    return value_hash({**later, **engine.decisive(generator, Path(folder), Path(cache_dir) if cache_dir else None)})


def checked_start(
    generator: Mapping[str, Any], expected: str, start: Callable[[], Started], cache_dir: str | Path | None = None
) -> Started:
    """Return ``start()``, after checking before and after it that the model's files have fingerprint ``expected``.

    Raises InputError if not: a folder that changes while a study runs would put answers of two models under one
    fingerprint. File hashes are kept, so the check only compares file sizes and times.
    """
    _check_model(generator, expected, cache_dir)
    started = start()
    _check_model(generator, expected, cache_dir)
    return started


def _check_model(generator: Mapping[str, Any], expected: str, cache_dir: str | Path | None) -> None:
    current = fingerprint(generator, cache_dir=cache_dir)
    if current != expected:
        changed = f"files other than when the study was started (fingerprint {current})"
        raise InputError(f"model {generator['model']}", changed, f"those of fingerprint {expected}; start it again")
