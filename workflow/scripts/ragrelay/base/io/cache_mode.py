"""Check whether jobs may write to the cache. Jobs read the config key ``cache_mode`` from an environment variable.

It isn't passed as a rule's param, because it doesn't affect results.
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
    """Raise InputError if the cache is read-only. ``missing``: the words that precede ``folder`` in the message."""
    if read_only():
        found = f"{READ_ONLY}, although {missing} {folder}"
        raise InputError(
            "config key 'cache_mode'", found, "a cache that contains everything the study needs, or read-write"
        )
