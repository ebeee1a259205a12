"""Hash passage labels for a study's provenance."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ragrelay.report.data_hashes import Hashes, described, read_result, rows_of


def label_hashes(results: Path, dataset: str, config: Mapping[str, Any]) -> Hashes:
    """Return the number and hash of each source's labels, keyed by ``labels <source>, <scorer>, <generator>``.

    Raises InputError if a file is damaged.
    """
    grid, hashes = config["grid"], {}
    for scorer, generator in product(grid["scorers"], grid["generators"]):
        path = results / dataset / "annotations/labels" / scorer / generator / "labels.parquet"
        if path.is_file():
            for (source,), labels in sorted(read_result(path).group_by("source")):
                hashes[f"labels {source}, {scorer}, {generator}"] = described(rows_of(labels))
    return hashes
