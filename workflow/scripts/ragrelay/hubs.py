"""Hubs in a job: access is off (jobs.py), so that what lacks is told at once instead of after a timeout."""

import os

from ragrelay.config.models import PACKAGED, is_folder
from ragrelay.errors import InputError

FETCHED = "it fetched where its source can be reached: snakemake prefetch"


def check_cached(model: str, revision: str | None, place: str) -> None:
    """Raise InputError where hub access is off and nothing of a hub model is in the hub's cache."""
    if not on_hub(model) or not offline():
        return
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_CACHE

    if not isinstance(try_to_load_from_cache(model, "config.json", revision=revision), str):
        raise InputError(place, f"nothing of {model!r} in the hub's cache {HF_HUB_CACHE}", FETCHED)


def on_hub(model: str) -> bool:
    """Whether ``model`` means a hub's id."""
    return model not in PACKAGED and not is_folder(model)


def offline() -> bool:
    """Whether hub access is off, as huggingface_hub reads it."""
    return os.environ.get("HF_HUB_OFFLINE", "0").upper() in ("1", "ON", "YES", "TRUE")
