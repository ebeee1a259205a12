"""A damaged table of a study that is opened in Python."""

from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.notebook.study_results import open_results
from ragrelay.base.errors import InputError

from tests.unit.base.test_parquet_files import FRAME


@pytest.mark.parametrize("damage", ["cut", "panics", "csv"])
def test_a_damaged_result_that_is_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    path = tmp_path / ("demo/analysis/f1/lm/gain.csv" if damage == "csv" else "demo/utility/f1/lm.parquet")
    path.parent.mkdir(parents=True)
    FRAME.select("text").write_parquet(path)
    table = "gain" if damage == "csv" else "per_query"
    if damage == "csv":
        path.write_text("n,n_queries\n1,x")
    else:
        path.write_bytes(path.read_bytes()[:-2])
    if damage == "panics":
        monkeypatch.setattr(pl, "read_parquet", lambda *_, **__: raise_(pl.exceptions.PanicException("here")))
    with pytest.raises(InputError, match=rf"^{path}: found a damaged file \(.*; expected a complete file; rm {path}"):
        open_results(tmp_path).table(table)


def raise_(error: BaseException) -> None:
    raise error
