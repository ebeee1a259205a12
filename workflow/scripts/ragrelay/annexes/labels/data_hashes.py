"""Hash the labels of passages, for the provenance of a study."""

from pathlib import Path

from ragrelay.report.data_hashes import Hashes, described, read_result, rows_of


def label_hashes(results: Path, dataset: str) -> Hashes:
    """Count and hash ``labels <source>, <scorer>, <generator>``. Raises InputError for a damaged file."""
    hashes = {}
    for path in sorted((results / dataset).glob("annotations/labels/*/*/labels.parquet")):
        for (source,), labels in sorted(read_result(path).group_by("source")):
            hashes[f"labels {source}, {path.parts[-3]}, {path.parts[-2]}"] = described(rows_of(labels))
    return hashes
