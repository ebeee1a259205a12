"""Check every file in the cache byte by byte, and find files left behind by killed jobs."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ragrelay.base.io.atomic_files import ended, leftovers
from ragrelay.base.io.file_hashes import FOLDER, NAME, check_hashes, kept_damage
from ragrelay.base.io.parquet_parts import damage

STORES = ("answers", "likelihoods", "processed", "scores")
HASHED = ("indexes", "models", "references")


def check_cache(cache_dir: Path) -> Iterator[str]:
    """Read every byte in the cache, and yield a line with advice for each damaged or leftover file or folder.

    If the cache stores the hash of a file outside the cache, that file is read too, unless it changed after hashing.
    Cached files that an older version stored without hashes are hashed now.
    """
    for store in STORES:
        for part in sorted((cache_dir / store).glob("[!.]*/**/part-*.parquet")):
            if reason := damage(part):
                yield _damaged(part, reason)
    for kind in HASHED:
        for path in sorted((cache_dir / kind).glob("[!.]*")):
            if path.name.endswith(f".{NAME}"):
                continue
            try:
                check_hashes(path, whole=True)
            except (OSError, ValueError, KeyError) as error:
                yield _damaged(path, str(error))
    for entry in sorted((cache_dir / FOLDER).glob("[!.]*")):
        if reason := kept_damage(entry):
            yield _damaged(entry, reason)
    for path in sorted(leftover for folder in cache_dir.glob("**/") for leftover in leftovers(folder)):
        if ended(path):
            yield f"{path}: left behind by a killed job; the next job that writes there will remove it"
        else:
            changed = datetime.fromtimestamp(path.stat().st_mtime).isoformat(" ", "minutes")
            yield f"{path}: written by a job here or elsewhere, last changed {changed}; delete it if that job has died"


def _damaged(path: Path, reason: str) -> str:
    return f"{path}: damaged ({reason}); delete it, and the next run will recreate it"
