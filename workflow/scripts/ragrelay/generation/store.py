"""The answer store: append-only Parquet parts, so that nothing is generated twice and no job's death loses work.

Several jobs on several nodes may append at once: a part is written under a temporary name and renamed, and parts are
never changed. Jobs that run at the same time may both make a key; readers then take the earliest part's.
"""

import logging
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from ragrelay.files import write_parquet

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


class AnswerStore:
    """The answers of one fingerprint, in folder ``<cache_dir>/answers/<fingerprint>``.

    Columns: prompt_id, seed, answer, finish_reason, prompt_tokens, cached_tokens (of the prompt, served from the
    prefix cache), answer_tokens, logprob (sum over the answer's tokens, nats, of the model before temperature and
    top-k), dropped_passages (left out of the prompt to fit the window).
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        self.folder = Path(cache_dir) / "answers" / fingerprint
        self._damaged: set[Path] = set()

    def parts(self) -> list[Path]:
        """Readable parts, earliest first (names start with the time); damaged ones are left out with a warning."""
        return [
            part
            for part in sorted(self.folder.glob("part-*.parquet"))
            if part not in self._damaged and self._whole(part)
        ]

    def append(self, rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, str]) -> Path:
        """Write ``rows`` as one more part with ``metadata``; returns its path."""
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        path = self.folder / f"part-{now}-{uuid.uuid4().hex[:12]}.parquet"
        write_parquet(pl.DataFrame(list(rows), schema=SCHEMA), path, metadata={**metadata, "written": now})
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
        try:
            return self._scan(parts, wanted, columns)
        except (pl.exceptions.PolarsError, OSError):
            # The footers were fine, so one part's pages are damaged: find it, leave it out, go on with the others.
            self._damaged |= {part for part in parts if not self._readable(part)}
            return self._scan(self.parts(), wanted, columns)

    @staticmethod
    def _scan(parts: list[Path], wanted: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        scan = pl.scan_parquet(parts, include_file_paths="part", glob=False)
        found = scan.select(*KEY, *columns, *({"part"} - set(columns))).join(wanted.lazy(), on=KEY, how="semi")
        earliest = found.collect(engine="streaming").sort("part").unique(KEY, keep="first", maintain_order=True)
        return earliest.select(*KEY, *columns)

    def _whole(self, part: Path) -> bool:
        try:
            pq.read_metadata(part)
        except (OSError, ValueError) as error:
            self._leave_out(part, error)
            return False
        return True

    def _readable(self, part: Path) -> bool:
        try:
            pl.read_parquet(part, glob=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            self._leave_out(part, error)
            return False
        return True

    def _leave_out(self, part: Path, error: Exception) -> None:
        self._damaged.add(part)
        reason = str(error).splitlines()[0]
        log.warning("%s: found a damaged part (%s); its answers are made again, it may be deleted", part, reason)
