"""Writing files whole or not at all."""

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it to ``path`` on success, remove it on any error.

    The temporary name starts with a dot and ends as ``path`` does, so that writers that look at the
    suffix (``.gz``, ``.parquet``) do the right thing and readers that look for names of their own never see it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".tmp-{uuid.uuid4().hex[:12]}-{path.name}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_parquet(frame: pl.DataFrame, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write ``frame`` as zstd Parquet, atomically, with optional key-value ``metadata``."""
    with atomic(path) as temporary:
        frame.write_parquet(temporary, compression="zstd", metadata=dict(metadata) if metadata else None)


def write_csv(frame: pl.DataFrame, path: str | Path) -> None:
    """Write ``frame`` as CSV with a header, atomically; null is an empty field."""
    with atomic(path) as temporary:
        frame.write_csv(temporary)


def write_text(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(value: Any, path: str | Path) -> None:
    """Write ``value`` as indented JSON with sorted keys, atomically."""
    write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", path)
