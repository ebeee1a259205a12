"""Hash scores from files, for the provenance of a study."""

from pathlib import Path

from ragrelay.report.data_hashes import Hashes, described, read_result, rows_of
from ragrelay.scoring.scorers.file import SET


def score_hashes(results: Path, dataset: str) -> Hashes:
    """Count and hash ``scores <scorer>, <generator>``, of kind file. Raises InputError for a damaged file."""
    rows: dict[str, list[str]] = {}
    for path in sorted((results / dataset).glob("scores/*/*/*.parquet")):
        table = read_result(path).filter(references=SET).select("qid", "ordering", "k", "seed", "f1")
        if table.height:
            own = rows.setdefault(f"scores {path.parts[-3]}, {path.parts[-2]}", [])
            own += [f"{path.stem} {row}" for row in rows_of(table)]
    return {name: described(found) for name, found in rows.items()}
