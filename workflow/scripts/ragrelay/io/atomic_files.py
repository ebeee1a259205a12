"""Writing files and folders whole or not at all."""

import json
import logging
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.io.temporary_paths import temporary_beside

log = logging.getLogger(__name__)


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of ``path``; rename it to ``path`` on success, remove it on any error.

    The temporary name starts with a dot and ends as ``path`` does, so that writers that look at the
    suffix (``.gz``, ``.parquet``) do the right thing and readers that look for names of their own never see it.
    """
    path = Path(path)
    make_folder(path.parent)
    temporary = temporary_beside(path)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """As ``atomic``, for a folder that the caller makes; where another job made ``path`` meanwhile, that one stays."""
    make_folder(path.parent)
    temporary = temporary_beside(path)
    try:
        yield temporary
        try:
            _share(temporary)
            temporary.rename(path)
        except OSError:
            if not path.is_dir():
                raise
            log.info("%s: another job was first", path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Make a folder where it is missing, with those above it; a group that may write into one may into those below.

    As in a cache that a group shares: whose files are removed or replaced is decided by the folder, not by the umask.
    """
    if not path.is_dir():
        make_folder(path.parent)
        try:
            path.mkdir()
        except FileExistsError:
            return  # another job was first
        _share(path)


def _share(folder: Path) -> None:
    if folder.parent.stat().st_mode & stat.S_IWGRP:
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IWGRP)


def remove_folder(path: Path) -> None:
    """Remove a folder that other jobs may be looking at: out of the way first, in one step."""
    aside = temporary_beside(path)
    try:
        path.rename(aside)
    except FileNotFoundError:
        return  # another job was first
    shutil.rmtree(aside, ignore_errors=True)


def write_parquet(frame: pl.DataFrame, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write ``frame`` as zstd Parquet, atomically, with optional key-value ``metadata``."""
    with atomic(path) as temporary:
        frame.write_parquet(temporary, compression="zstd", metadata=dict(metadata) if metadata else None)


def write_csv(frame: pl.DataFrame, path: str | Path) -> None:
    """Write ``frame`` as CSV with a header, atomically; null is an empty field."""
    with atomic(path) as temporary:
        frame.write_csv(temporary)


def write_spreadsheet(frame: pl.DataFrame, path: str | Path) -> None:
    """As write_csv, for programs that take a text such as ``=1+1`` for a formula: an apostrophe is put before it.

    Numbers, also those in columns of text, stay as they are.
    """
    text = pl.col(pl.String)
    formula = text.str.contains(r"^[=+\-@\t\r\n]") & ~text.str.contains(r"^[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    write_csv(frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep()), path)


def write_text(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(value: Any, path: str | Path) -> None:
    """Write ``value`` as indented JSON with sorted keys, atomically."""
    write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", path)
