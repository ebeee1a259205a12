"""List the contents of the cache with the studies that use them, and join the small files of its stores."""

import itertools
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from ragrelay.display.printed_tables import printed
from ragrelay.generation.store import AnswerStore
from ragrelay.io.parquet_parts import PartStore
from ragrelay.likelihoods.store import LikelihoodStore
from ragrelay.scoring.store import ScoreStore

STORES: Mapping[str, type[AnswerStore | LikelihoodStore | ScoreStore]] = {
    "answers": AnswerStore,
    "likelihoods": LikelihoodStore,
    "scores": ScoreStore,
}
KINDS = (*STORES, "references", "indexes", "hashes")
SMALL = 1 << 20
"""Bytes of the largest receipt."""
NAMING = ("generated", "scores", "indexes")
"""Folders of a study whose folders are named after a generator, a scorer or a corpus."""
NAME = re.compile(r"[0-9a-f]{16,}")


def show_cache(cache_dir: Path, results: Path) -> str:
    """The contents as a table for a terminal."""
    return printed(contents(cache_dir, results))


def contents(cache_dir: Path, results: Path) -> pl.DataFrame:
    """A row per store, index and folder of embeddings: kind, name, MB, files, written last, and used_by.

    ``used_by``: which studies in the folder ``results`` have files made with it, and by which generator, scorer or
    index, as their receipts and scores say. A study whose results were deleted, or are elsewhere, is not seen.
    """
    users = _users(results)
    rows = []
    for kind in KINDS:
        folder = cache_dir / kind
        for path in [folder] if kind == "hashes" and folder.is_dir() else sorted(folder.glob("[!.]*")):
            files = [file.stat() for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
            written = max((stat.st_mtime for stat in files), default=path.stat().st_mtime)
            match = NAME.search(path.name)
            rows.append(
                {
                    "kind": kind,
                    "name": path.name,
                    "MB": round(sum(stat.st_size for stat in files) / 1e6, 1),
                    "files": len(files),
                    "written": datetime.fromtimestamp(written).isoformat(" ", "minutes"),
                    "used by": _told(users.get(match[0], {})) if match else "",
                }
            )
    return pl.DataFrame(rows)


def _users(results: Path) -> dict[str, dict[str, set[str]]]:
    """The users of each hash that receipts and scores mention: study, and its generator, scorer or corpus."""
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


def _told(users: Mapping[str, set[str]]) -> str:
    return "; ".join(study + (f" ({', '.join(sorted(names))})" if names else "") for study, names in users.items())


def compact_cache(cache_dir: Path) -> Iterator[str]:
    """Join the parts of every store and remove parts that were replaced long enough ago. Returns a line per store."""
    for kind, store_class in STORES.items():
        for folder in sorted((cache_dir / kind).glob("[!.]*/")):
            store: PartStore = store_class(cache_dir, folder.name)
            removed, _ = store.remove_replaced()
            joined, made = store.join()
            _, waiting = store.remove_replaced()
            if joined or removed or waiting:
                rest = f"; {waiting} replaced ones stay for a day, as jobs may be reading them" if waiting else ""
                yield f"{folder}: {joined} parts joined into {made}, {removed} replaced ones removed{rest}"
