"""Write the files that a question makes from the replies."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ragrelay.base.io.atomic_files import atomic, write_json, write_parquet


def write_made(made: Mapping[str, Any], outputs: Any) -> None:
    """Write each of ``made`` to the path of that name in ``outputs``.

    A table of polars, or of Arrow with its metadata, is written as Parquet, anything else as JSON.
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
