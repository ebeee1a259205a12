"""Check whether jobs may write to the cache: config key ``cache_mode``, which reaches them through the environment.

The mode is no param of a rule, since it changes no result.
"""

import os
from pathlib import Path

from ragrelay.base.errors import InputError

VARIABLE = "RAGRELAY_CACHE_MODE"
READ_ONLY = "read-only"


def read_only() -> bool:
    """Return whether the cache is read-only."""
    return os.environ.get(VARIABLE) == READ_ONLY


def check_writable(missing: str, folder: Path) -> None:
    """Raise InputError if the cache is read-only. ``missing``: the start of a sentence on what ``folder`` lacks."""
    if read_only():
        found = f"{READ_ONLY}, and {missing} {folder}"
        raise InputError(
            "config key 'cache_mode'", found, "a cache with everything that the study needs, or read-write"
        )
