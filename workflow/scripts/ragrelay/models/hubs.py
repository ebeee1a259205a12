"""Downloads from hubs, and what a job reports as missing, since jobs have no access to hubs."""

import os
import sys
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError
from ragrelay.models.locations import PACKAGED, is_folder, model_config

FETCHED = "it fetched where its source can be reached: snakemake prefetch"
DESCRIPTIONS = ("config.json", "tokenizer_config.json", "adapter_config.json", "modules.json")
"""Files of which a model, tokenizer or adapter has at least one."""
TCT_TOKENIZER = "bert-base-uncased"
"""The tokenizer of pyterrier-dr's TCT-ColBERT, whatever its model."""


def check_cached(name: str, revision: str | None, place: str) -> None:
    """Raise InputError where hub access is off and nothing of a hub's model, tokenizer or adapter is in its cache."""
    if not on_hub(name) or not offline():
        return
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_CACHE

    cached = [try_to_load_from_cache(name, file, revision=revision) for file in DESCRIPTIONS]
    if not any(isinstance(path, str) for path in cached):
        raise InputError(place, f"nothing of {name!r} in the hub's cache {HF_HUB_CACHE}", FETCHED)


def model_description(model: str, revision: str | None, place: str) -> dict[str, Any]:
    """A model's config.json, which a hub's must have in its cache where hub access is off; empty where it has none.

    Raises InputError if it is not available, or no JSON object.
    """
    if not on_hub(model):
        return model_config(place, model)
    check_cached(model, revision, place)
    folder = fetch(model, revision, place, allow_patterns=["config.json"])
    return model_config(place, str(folder)) if (folder / "config.json").is_file() else {}


def on_hub(model: str) -> bool:
    """Return whether ``model`` means a hub's id."""
    return model not in PACKAGED and not is_folder(model)


def offline() -> bool:
    """Return whether hub access is off, as huggingface_hub reads it."""
    return os.environ.get("HF_HUB_OFFLINE", "0").upper() in ("1", "ON", "YES", "TRUE")


def fetch(name: str, revision: str | None, place: str, **choice: Any) -> Path:
    """Bring a repository of a hub into its cache (``HF_HOME``) and return its folder.

    ``choice`` goes to huggingface_hub's snapshot_download. Raises InputError, naming ``place``, if the download fails.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        return Path(snapshot_download(name, revision=revision, **choice))
    except OSError as error:
        found = f"{name!r} unavailable ({' '.join(str(error).split())[:200]})"
        raise InputError(place, found, _expected()) from error


def _expected() -> str:
    if offline():
        return "it in the hub's cache, as HF_HUB_OFFLINE is set; unset that to fetch it"
    return "a hub that can be reached (HF_ENDPOINT), an id that is there, and HF_TOKEN where it asks for one"
