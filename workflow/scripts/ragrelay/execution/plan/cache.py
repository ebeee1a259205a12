"""List the cache's contents and the studies that use each entry, join small files, and remove unneeded entries."""

import itertools
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from ragrelay.base.display.printed_tables import printed
from ragrelay.base.errors import InputError
from ragrelay.base.io import part_index
from ragrelay.base.io.atomic_files import ended, leftovers, remove_folder
from ragrelay.base.io.cache_use import REMOVAL, RUN, Use
from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.store import AnswerStore
from ragrelay.retrieval.processed_store import ProcessedStore
from ragrelay.scoring.store import ScoreStore

STORES: Mapping[str, type[AnswerStore | LikelihoodStore | ProcessedStore | ScoreStore]] = {
    "answers": AnswerStore,
    "likelihoods": LikelihoodStore,
    "processed": ProcessedStore,
    "scores": ScoreStore,
}
RECENT = 24 * 60 * 60.0
"""Entries changed within this many seconds aren't removed, whether needed or not."""
KINDS = (*STORES, "references", "indexes", "models", "hashes")
SMALL = 1 << 20
"""Maximum size of a receipt in bytes. Larger JSON files aren't read."""
NAMING = ("generated", "scores", "indexes", "converted")
"""Folders in a study's results whose subfolders are named after generators, scorers or corpora."""
NUGGETS = ("*/*/asked/write_nuggets/*/*.json", "*/*/nuggets/*/written/*.json")
"""Receipts for nugget lists, relative to the folder with all results. The second pattern is for version 0.1.0."""
NAME = re.compile(r"[0-9a-f]{16,}")


@dataclass(frozen=True)
class Needed:
    """The cache entries that a study needs."""

    study: str
    """The name of the study and its folder."""
    names: Collection[str]
    """The hashes in the names of the study's stores."""
    receipts: Collection[str]
    """The result files that name the study's indexes and embeddings."""


def show_cache(cache_dir: Path, results: Path) -> str:
    """Return the cache's contents as a table for the terminal."""
    return printed(contents(cache_dir, results))


def contents(cache_dir: Path, results: Path) -> pl.DataFrame:
    """Return one row per store, index and embeddings folder: kind, name, MB, files, written (last write) and used by.

    `used by` lists the studies in the folder ``results`` whose receipts or scores contain the entry's hash. Each study
    is followed by the generators, scorers or corpora that use the entry. Studies without results aren't listed.
    """
    users = _users(results)
    return pl.DataFrame(
        [
            {
                "kind": entry.kind,
                "name": entry.path.name,
                "MB": round(entry.bytes / 1e6, 1),
                "files": entry.files,
                "written": datetime.fromtimestamp(entry.written).isoformat(" ", "minutes"),
                "used by": _users_text(users.get(entry.hash, {})),
            }
            for entry in _entries(cache_dir)
        ]
    )


@dataclass(frozen=True)
class _Entry:
    """A store, index or embeddings folder. ``hash``: the hash in its name; empty for the folder with hashes."""

    kind: str
    path: Path
    hash: str
    files: int
    bytes: int
    written: float


def _entries(cache_dir: Path) -> Iterator[_Entry]:
    for kind in KINDS:
        folder = cache_dir / kind
        for path in [folder] if kind == "hashes" and folder.is_dir() else sorted(folder.glob("[!.]*")):
            found = path.rglob("*") if path.is_dir() else [path]
            files = [file.stat() for file in found if file.is_file() and file.name != part_index.NAME]
            written = max((stat.st_mtime for stat in files), default=path.stat().st_mtime)
            match = NAME.search(path.name)
            size = sum(stat.st_size for stat in files)
            yield _Entry(kind, path, match[0] if match else "", len(files), size, written)


def _users(results: Path) -> dict[str, dict[str, set[str]]]:
    """Return which studies use each hash, by their receipts and scores, with the generators, scorers or corpora."""
    users: dict[str, dict[str, set[str]]] = {}

    def note(name: str, path: Path) -> None:
        study, *folders = path.relative_to(results).parts
        named = users.setdefault(name, {}).setdefault(study, set())
        named.update(folder for before, folder in itertools.pairwise(folders) if before in NAMING)

    for path in sorted(results.glob("*/**/*.json")):
        if path.stat().st_size <= SMALL:
            for name in NAME.findall(path.read_text(encoding="utf-8", errors="replace")):
                note(name, path)
    for path in sorted(results.glob("*/*/scores/*/**/*.parquet")):
        note((pq.read_metadata(path).metadata or {}).get(b"fingerprint", b"").decode(), path)
    return users


def _users_text(users: Mapping[str, set[str]]) -> str:
    return "; ".join(study + (f" ({', '.join(sorted(names))})" if names else "") for study, names in users.items())


def prune_cache(cache_dir: Path, results: Path, needed: Needed, remove: bool) -> Iterator[str]:
    """Remove the stores, indexes and embeddings that no study needs, and yield one line per entry.

    Without ``remove``, only list them. An entry is needed if ``needed`` or a study's results contain the entry's hash.
    Entries that changed in the last RECENT seconds are kept. Folders are renamed before removal, so that no job sees
    partial folders. Raises InputError, before anything is removed, if the study hasn't finished or the cache is in use.
    """
    lacking = [path for path in needed.receipts if not Path(path).is_file()]
    if lacking:
        expected = "a finished study, whose receipts list what it needs from the cache"
        raise InputError("target cache_prune", f"no {lacking[0]}", expected)
    known = {*needed.names, *_users(results)}
    now = time.time()
    unneeded = [entry for entry in _entries(cache_dir) if entry.hash and entry.hash not in known]
    old = [entry for entry in unneeded if now - entry.written > RECENT]
    listed = {path.relative_to(results).parts[0] for pattern in NUGGETS for path in results.glob(pattern)} - {
        needed.study
    }
    if listed:
        unneeded, old = ([entry for entry in some if entry.kind != "answers"] for some in (unneeded, old))
        yield f"{cache_dir / 'answers'}: kept, as {min(listed)} has nugget lists, whose files don't name their stores"
    if remove:
        use = Use(cache_dir, REMOVAL)
        use.note()
        try:
            _check_unused(cache_dir, use)
            for entry in old:
                remove_folder(entry.path) if entry.path.is_dir() else entry.path.unlink(missing_ok=True)
        finally:
            use.end()
    for entry in unneeded:
        fate = "changed less than a day ago, kept" if entry not in old else "removed" if remove else "not needed"
        yield f"{entry.path}: {fate} ({entry.files} files, {entry.bytes / 1e6:.1f} MB)"
    total = f"{sum(entry.files for entry in old)} files, {sum(entry.bytes for entry in old) / 1e6:.1f} MB"
    yield f"Removed: {total}." if remove else f"Not needed: {total}. To remove them, add --config prune=remove."


def _check_unused(cache_dir: Path, use: Use) -> None:
    """Raise InputError if a run is using the cache or if a job left over from a run is still writing to it."""
    written = [
        path for folder in (*cache_dir.glob("[!.]*/"), *cache_dir.glob("[!.]*/*/")) for path in leftovers(folder)
    ]
    jobs = [path for path in written if not ended(path) and time.time() - path.stat().st_mtime < RECENT]
    if users := [*use.others(RUN), *use.others(REMOVAL), *map(str, jobs)]:
        raise InputError(
            f"config key 'cache_dir' ({cache_dir})",
            f"a cache in use by {users[0]}",
            "a cache that no run uses",
        )


def compact_cache(cache_dir: Path) -> Iterator[str]:
    """Join the parts in every store, remove parts replaced over a day ago, and yield a line for each changed store."""
    for kind, store_class in STORES.items():
        for folder in sorted((cache_dir / kind).glob("[!.]*/")):
            store: PartStore = store_class(cache_dir, folder.name)
            removed, _ = store.remove_replaced()
            joined, made = store.join()
            _, waiting = store.remove_replaced()
            if joined or removed or waiting:
                rest = f"; {waiting} replaced parts stay for a day, because jobs may be reading them" if waiting else ""
                yield f"{folder}: {joined} parts joined into {made}, {removed} replaced parts removed{rest}"
