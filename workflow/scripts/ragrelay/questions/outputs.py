"""Write the files derived from a model's replies to a question."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ragrelay.base.io.atomic_files import atomic, write_json, write_parquet


def write_made(made: Mapping[str, Any], outputs: Any) -> None:
    """Write each item in ``made`` to the path with the same name in ``outputs``.

    Polars tables and Arrow tables (with their metadata) are written as Parquet, everything else as JSON.
    """
    for name, value in made.items():
        path = getattr(outputs, name)
        if isinstance(value, pl.DataFrame):
            write_parquet(value, path)
        elif isinstance(value, pa.Table):
            with atomic(path) as temporary:
                pq.write_table(value, temporary, compression="zstd")
        else:
            write_json(value, path)
