"""Hash the scores that come from the user's files, to record where the study's data came from."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.data_hashes import Hashes, described, read_result, rows_of
from ragrelay.scoring.scorers import file

FROM_FILE = file.__name__.rpartition(".")[2]
"""The name of the scorer kind `file`. Loading all scorer kinds would make the job depend on their code."""


def score_hashes(results: Path, dataset: str, config: Mapping[str, Any]) -> Hashes:
    """Count and hash the scores that come from files, for each scorer and generator in the grid.

    Raises InputError if a file is damaged.
    """
    grid, hashes = config["grid"], {}
    from_files = [name for name in grid["scorers"] if config["scorers"][name]["kind"] == FROM_FILE]
    for scorer, generator in product(from_files, grid["generators"]):
        rows: list[str] = []
        for retriever in sorted({*grid["retrievers"], ZEROSHOT}):
            path = results / dataset / "scores" / scorer / generator / f"{retriever}.parquet"
            if path.is_file():
                table = read_result(path).select("qid", "ordering", "k", "seed", "f1")
                rows += [f"{retriever} {row}" for row in rows_of(table)]
        if rows:
            hashes[f"scores {scorer}, {generator}"] = described(rows)
    return hashes
