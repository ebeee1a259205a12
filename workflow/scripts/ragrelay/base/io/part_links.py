"""Hard-link parts from one store into another, so that results stay usable when a store's name changes."""

import json
import logging
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq

from ragrelay.base.io.atomic_files import atomic, make_folder, write_json
from ragrelay.base.io.cache_mode import read_only
from ragrelay.base.io.parquet_parts import damage

log = logging.getLogger(__name__)

SEEN = "linked.json"
"""A file in the target store that lists the source store's parts that have already been checked."""


def link_parts(source: Path, target: Path, device: str) -> None:
    """Hard-link into ``target`` all undamaged parts in ``source`` that were computed on ``device``.

    Each call skips the parts that earlier calls have already checked. In a read-only cache, nothing is linked.
    """
    names = {part.name for part in source.glob("part-*.parquet")}
    seen = set(json.loads((target / SEEN).read_text(encoding="utf-8"))) if (target / SEEN).is_file() else set()
    if names <= seen or read_only():
        return
    make_folder(target)
    for part in sorted(source / name for name in names - seen):
        if not damage(part) and (pq.read_metadata(part).metadata or {}).get(b"device") == device.encode():
            _link(part, target / part.name)
    write_json(sorted(names | seen), target / SEEN)


def _link(part: Path, path: Path) -> None:
    """Link ``part`` as ``path``, or copy it if the file system has no hard links."""
    try:
        os.link(part, path)
    except FileExistsError:
        log.info("%s: already created by another process", path)
    except OSError:
        with atomic(path) as temporary:
            shutil.copyfile(part, temporary)
