"""Read datasets (queries, passages and judgements) from a local folder or from ir_datasets."""

from collections.abc import Mapping
from pathlib import Path

from ragrelay.collection.base import Collection
from ragrelay.collection.source import DATASET_KINDS


def open_collection(definition: Mapping[str, object], folder: str | Path = ".") -> Collection:
    """Open the collection for a dataset's ``definition``. ``folder``: the base folder for relative paths."""
    return DATASET_KINDS.of(definition).open(Path(folder))
