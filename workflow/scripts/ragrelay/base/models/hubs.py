"""Download files from model hubs. Jobs can't access hubs, so they raise an error if a file hasn't been downloaded."""

import os
import sys
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.json_values import json_object
from ragrelay.base.models.gguf_files import is_gguf
from ragrelay.base.models.locations import PACKAGED, is_local, local_path, model_config

FETCHED = "`snakemake prefetch` first, on a machine that can reach the hub"
DESCRIPTIONS = ("config.json", "tokenizer_config.json", "adapter_config.json", "modules.json")
"""Every model, tokenizer or adapter has at least one of these files."""
TCT_TOKENIZER = "bert-base-uncased"
"""The tokenizer that pyterrier-dr's TCT-ColBERT uses with any model."""


def check_cached(name: str, revision: str | None, place: str) -> None:
    """Raise InputError if hub access is off and a model, tokenizer or adapter from a hub isn't in the hub's cache."""
    if not on_hub(name) or not offline():
        return
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_CACHE

    repository, inside = hub_file(name)
    files = [inside] if inside else DESCRIPTIONS
    cached = [try_to_load_from_cache(repository, file, revision=revision) for file in files]
    if not any(isinstance(path, str) for path in cached):
        raise InputError(place, f"no files of {name!r} in the hub's cache {HF_HUB_CACHE}", FETCHED)


def model_description(model: str, revision: str | None, place: str) -> dict[str, object]:
    """Return the content of a model's config.json, or {} if there is no such file.

    Raises InputError if the file can't be downloaded, isn't cached while hub access is off, or isn't a JSON object.
    """
    if not on_hub(model):
        return model_config(place, model)
    check_cached(model, revision, place)
    folder = fetch(model, revision, place, allow_patterns=["config.json"])
    return model_config(place, str(folder)) if (folder / "config.json").is_file() else {}


def cached_description(model: str, revision: str | None, folder: Path) -> dict[str, object]:
    """Return the content of a model's config.json, or {} if there is none or if it hasn't been downloaded."""
    if local_path(model, folder) is None:
        from huggingface_hub import try_to_load_from_cache

        path = try_to_load_from_cache(model, "config.json", revision=revision)
        return json_object(Path(path), model, "a model's configuration") if isinstance(path, str) else {}
    return model_config(model, model, folder)


def on_hub(model: str) -> bool:
    """Return whether ``model`` is a hub id."""
    return model not in PACKAGED and not is_local(model)


def hub_file(name: str) -> tuple[str, str]:
    """Split the hub id ``name`` into a repository and a GGUF file's name (an empty string for other models)."""
    if not is_gguf(name):
        return name, ""
    owner, repository, inside = name.split("/", 2)
    return f"{owner}/{repository}", inside


def offline() -> bool:
    """Return whether hub access is off, according to huggingface_hub's environment variable HF_HUB_OFFLINE."""
    return os.environ.get("HF_HUB_OFFLINE", "0").upper() in ("1", "ON", "YES", "TRUE")


def fetch(name: str, revision: str | None, place: str, **choice: Any) -> Path:
    """Download the repository or GGUF file ``name`` to the hub's cache (``HF_HOME``), and return the local path.

    ``choice``: arguments for huggingface_hub's snapshot_download. Raises InputError if the download fails.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        repository, inside = hub_file(name)
        if inside:
            choice = {"allow_patterns": [inside]}
        folder = Path(snapshot_download(repository, revision=revision, **choice))
        if inside and not (folder / inside).is_file():
            raise InputError(place, f"no {inside} in {repository}", "the name of a file in this repository")
        return folder / inside
    except OSError as error:
        found = f"{name!r} unavailable ({' '.join(str(error).split())[:80]} …)"
        raise InputError(place, found, _expected()) from error


def _expected() -> str:
    if offline():
        return "it in the hub's cache, since HF_HUB_OFFLINE is set; unset that to download it"
    return "a reachable hub (HF_ENDPOINT), an existing id, and HF_TOKEN if the hub asks for one"
