"""Checks of a whole configuration that its schema can't express: secrets, file names, the cache's folder."""

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError

TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{20,}")
"""A Hugging Face access token; its value is never shown."""


def check_no_secret(value: Any, key: str = "") -> None:
    """Raise InputError where a key or value holds an access token: the configuration is written into the results."""
    if isinstance(value, Mapping):
        for name, sub in value.items():
            hidden = TOKEN.sub("hf_…", str(name))
            check_no_secret(str(name), f"{key}.{hidden}".lstrip("."))
            check_no_secret(sub, f"{key}.{hidden}".lstrip("."))
    elif isinstance(value, list | tuple):
        for place, sub in enumerate(value):
            check_no_secret(sub, f"{key}.{place}")
    elif isinstance(value, str) and TOKEN.search(value):
        raise InputError(f"config key {key!r}", "an access token", "it in the environment variable HF_TOKEN alone")


def check_file_names(grid: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError where two sections of the report would have one file name, their names joined by ``_``."""
    made: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for names in product(grid["datasets"], grid["generators"], grid["scorers"]):
        made["_".join(names)].append(names)
    for joined, sections in made.items():
        if len(sections) > 1:
            both = " and ".join(" × ".join(names) for names in sections)
            raise InputError("config key 'grid'", f"{both}, both {joined!r} in file names", "names that differ joined")


def check_cache(folder: Path) -> None:
    """Raise InputError where ``folder`` can't be written to, or not be made; nothing is made."""
    path, place, expected = folder.absolute(), "config key 'cache_dir'", "a folder that can be written to"
    there = next(one for one in (path, *path.parents) if os.access(one, os.F_OK))
    if not there.is_dir():
        raise InputError(place, f"{folder}, where {there.name} is a file", expected)
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(place, f"{folder}, while {there} can't be written to", expected)
