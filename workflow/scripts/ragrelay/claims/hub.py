"""Claims of a data set on the Hugging Face hub, as the hub's own Parquet files: nothing that comes with it is run."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.claims.claims import Records
from ragrelay.errors import InputError
from ragrelay.models.hubs import fetch


def hub_records(definition: Mapping[str, Any]) -> Records:
    """The rows of ``definition`` (id, subset, split, revision): those of the files ``<subset>/<split>/*.parquet``.

    The hub keeps them for every data set, in the branch ``refs/convert/parquet``. Raises InputError where
    there are none or the hub can't be reached.
    """
    pattern = f"{definition['subset']}/{definition['split']}/*.parquet"
    place = f"data set {definition['id']} at {definition['revision']}"
    folder = fetch(definition["id"], definition["revision"], place, repo_type="dataset", allow_patterns=[pattern])
    files = sorted(folder.glob(pattern))
    if not files:
        raise InputError(place, f"no file {pattern}", "one; subset and split name the folders")
    number = 0
    for file in files:
        for record in pl.read_parquet(file).iter_rows(named=True):
            number += 1
            yield f"{place}, row {number}", record
