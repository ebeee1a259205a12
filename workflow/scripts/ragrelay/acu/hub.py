"""Claims of a data set on the Hugging Face hub, as the hub's own Parquet files: nothing that comes with it is run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.acu.claims import Records
from ragrelay.errors import InputError


def hub_records(definition: Mapping[str, Any]) -> Records:
    """The rows of ``definition`` (id, subset, split, revision): those of the files ``<subset>/<split>/*.parquet``.

    The hub keeps them for every data set, in the branch ``refs/convert/parquet``.
    """
    from huggingface_hub import snapshot_download

    pattern = f"{definition['subset']}/{definition['split']}/*.parquet"
    folder = snapshot_download(
        definition["id"], repo_type="dataset", revision=definition["revision"], allow_patterns=[pattern]
    )
    files = sorted(Path(folder).glob(pattern))
    place = f"data set {definition['id']} at {definition['revision']}"
    if not files:
        raise InputError(place, f"no file {pattern}", "one; subset and split name the folders")
    number = 0
    for file in files:
        for record in pl.read_parquet(file).iter_rows(named=True):
            number += 1
            yield f"{place}, row {number}", record
