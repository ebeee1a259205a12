"""The answer store: append-only Parquet parts, so that nothing is generated twice and no job's death loses work.

Several jobs on several nodes may append at once: a part is written under a temporary name and renamed, and parts are
never changed. Jobs that run at the same time may both make a key; readers then take the earliest part's.
"""

import hashlib
import io
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from ragrelay.files import atomic
from ragrelay.hashing import file_hash

log = logging.getLogger(__name__)

SCHEMA = {
    "prompt_id": pl.String,
    "seed": pl.Int64,
    "answer": pl.String,
    "finish_reason": pl.String,
    "prompt_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "answer_tokens": pl.Int64,
    "logprob": pl.Float64,
    "dropped_passages": pl.Int64,
}
KEY = ["prompt_id", "seed"]
HASH_DIGITS = 16


class AnswerStore:
    """The answers of one fingerprint, in folder ``<cache_dir>/answers/<fingerprint>``.

    Columns: prompt_id, seed, answer, finish_reason, prompt_tokens, cached_tokens (of the prompt, served from the
    prefix cache), answer_tokens, logprob (sum over the answer's tokens, nats, of the model before temperature and
    top-k), dropped_passages (left out of the prompt to fit the window).
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        self.folder = Path(cache_dir) / "answers" / fingerprint
        self._checked: dict[Path, bool] = {}

    def parts(self) -> list[Path]:
        """Readable parts, earliest first (names start with the time); damaged ones are left out with a warning."""
        return [part for part in sorted(self.folder.glob("part-*.parquet")) if self._whole(part)]

    def append(self, rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, str]) -> Path:
        """Write ``rows`` as one more part with ``metadata``; returns its path.

        A part's name ends with a hash of its bytes: Parquet's own checks let some damaged pages pass as other answers.
        """
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        buffer = io.BytesIO()
        frame = pl.DataFrame(list(rows), schema=SCHEMA)
        frame.write_parquet(buffer, compression="zstd", metadata={**metadata, "written": now})
        content = buffer.getvalue()
        path = self.folder / f"part-{now}-{hashlib.sha256(content).hexdigest()[:HASH_DIGITS]}.parquet"
        with atomic(path) as temporary:
            temporary.write_bytes(content)
        return path

    def held(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Those of ``keys`` (prompt_id, seed) that the store holds, with the part that counts."""
        return self._select(keys, ["part"])

    def look_up(self, keys: pl.DataFrame) -> pl.DataFrame:
        """The stored rows of ``keys`` (prompt_id, seed), each once, without order."""
        return self._select(keys, [name for name in SCHEMA if name not in KEY])

    def metadata(self, part: str | Path) -> dict[str, str]:
        """Metadata of a part: engine, version, device, seconds, peak memory, time."""
        raw = pq.read_metadata(part).metadata or {}
        return {key.decode(): value.decode() for key, value in raw.items() if not key.startswith(b"ARROW")}

    def _select(self, keys: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        wanted = keys.select(KEY).unique()
        parts = self.parts()
        if not parts or wanted.is_empty():
            schema = {**SCHEMA, "part": pl.String}
            return pl.DataFrame(schema={name: schema[name] for name in [*KEY, *columns]})
        return self._scan(parts, wanted, columns)

    @staticmethod
    def _scan(parts: list[Path], wanted: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        scan = pl.scan_parquet(parts, include_file_paths="part", glob=False)
        found = scan.select(*KEY, *columns, *({"part"} - set(columns))).join(wanted.lazy(), on=KEY, how="semi")
        earliest = found.collect(engine="streaming").sort("part").unique(KEY, keep="first", maintain_order=True)
        return earliest.select(*KEY, *columns)

    def _whole(self, part: Path) -> bool:
        """Whether ``part`` has the bytes it was written with; parts never change, so that each is looked at once."""
        if part not in self._checked:
            try:
                self._checked[part] = file_hash(part)[:HASH_DIGITS] == part.stem.rpartition("-")[2]
                reason = "its bytes do not hash to its name"
            except OSError as error:
                self._checked[part], reason = False, str(error)
            if not self._checked[part]:
                log.warning(
                    "%s: found a damaged part (%s); its answers are made again, it may be deleted", part, reason
                )
        return self._checked[part]
