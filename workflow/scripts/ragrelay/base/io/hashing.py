"""Compute hashes of values, texts and files."""

import hashlib
import json
from pathlib import Path


def text_hash(text: str) -> str:
    """Return the SHA-256 of ``text`` in UTF-8 (64 hex digits)."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def value_hash(value: object, digits: int = 16) -> str:
    """Return a hash of a JSON-like ``value``, independent of the order of keys."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text_hash(canonical)[:digits]


def file_hash(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes (64 hex digits)."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
