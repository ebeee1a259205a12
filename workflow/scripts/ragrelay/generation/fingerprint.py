"""The fingerprint: a hash of all that decides an answer besides its prompt and seed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ragrelay.errors import InputError
from ragrelay.io.hashing import value_hash
from ragrelay.models.locations import model_identity

Started = TypeVar("Started")

DECODING = ("temperature", "top_k", "top_p", "min_p", "max_tokens", "stop")
DECISIVE = (
    "dtype", "quantization", "kv_cache_dtype", "max_model_len", "over_window", *DECODING, "trust_remote_code",
)  # fmt: skip
# Keys that came later: left at what they were before, they keep the answers made then.
LATER: dict[str, Any] = {"chat": False, "chat_template_kwargs": {}}


def fingerprint(generator: Mapping[str, Any], folder: str | Path = ".", cache_dir: str | Path | None = None) -> str:
    """16 hex digits that change with whatever decides the text of an answer.

    Models, adapters and tokenizers count by a hash of their files (a local folder) or by id and revision (a hub), so
    that a folder that is moved keeps its answers. A model behind an endpoint counts by the name it is served under, its
    revision and ``base_url``; an address from the environment doesn't, as a server of one's own is somewhere else every
    time. The prompt template doesn't count: prompts are keys of their own. ``thinking`` doesn't: the store keeps the
    whole text.
    """
    kept, place = Path(cache_dir) if cache_dir else None, Path(folder)
    revision = generator.get("revision")
    keys: tuple[str, ...]
    decisive = {key: generator[key] for key, value in LATER.items() if generator.get(key, value) != value}
    if "adapter" in generator:
        decisive["adapter"] = model_identity(generator["adapter"], generator.get("adapter_revision"), place, kept)
    if generator["engine"] == "openai":
        decisive |= {"endpoint": generator.get("base_url", ""), "model": f"{generator['model']}@{revision or ''}"}
        if "tokenizer" in generator:
            keys = ("max_model_len", "over_window", "trust_remote_code", *DECODING)
            decisive["tokenizer"] = model_identity(generator["tokenizer"], revision, place, kept)
        else:
            keys = DECODING
    else:
        keys = DECISIVE
        decisive["model"] = model_identity(generator["model"], revision, place, kept)
        # How weights are read decides nothing, unless they are made up.
        if generator.get("load_format") == "dummy":
            decisive["load_format"] = "dummy"
    return value_hash({**decisive, **{key: generator[key] for key in keys if key in generator}})


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
