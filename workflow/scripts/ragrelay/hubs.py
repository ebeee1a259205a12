"""Hubs in a job: access is off (jobs.py), so that what lacks is told at once instead of after a timeout."""

import os

from ragrelay.config.models import PACKAGED, is_folder
from ragrelay.errors import InputError

FETCHED = "it fetched where its source can be reached: snakemake prefetch"
DESCRIPTIONS = ("config.json", "tokenizer_config.json", "adapter_config.json", "modules.json")
"""Files of which a model, tokenizer or adapter has one at least."""
TCT_TOKENIZER = "bert-base-uncased"
"""What pyterrier-dr's TCT-ColBERT reads its texts with, whatever its model."""


def check_cached(name: str, revision: str | None, place: str) -> None:
    """Raise InputError where hub access is off and nothing of a hub's model, tokenizer or adapter is in its cache."""
    if not on_hub(name) or not offline():
        return
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_CACHE

    cached = [try_to_load_from_cache(name, file, revision=revision) for file in DESCRIPTIONS]
    if not any(isinstance(path, str) for path in cached):
        raise InputError(place, f"nothing of {name!r} in the hub's cache {HF_HUB_CACHE}", FETCHED)


def on_hub(model: str) -> bool:
    """Whether ``model`` means a hub's id."""
    return model not in PACKAGED and not is_folder(model)


def offline() -> bool:
    """Whether hub access is off, as huggingface_hub reads it."""
    return os.environ.get("HF_HUB_OFFLINE", "0").upper() in ("1", "ON", "YES", "TRUE")
