"""A study that is opened in Python: how it is printed, and a damaged table."""

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
    with pytest.raises(InputError, match=rf"^{path}: found a damaged file \(.*; expected a complete file; run rm .*"):
        open_results(tmp_path).table(table)


def raise_(error: BaseException) -> None:
    raise error


def test_a_study_prints_its_name_its_folder_and_how_much_it_has(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "demo/analysis/f1/lm").mkdir(parents=True)
    (folder / "demo/analysis/f1/lm/gain.csv").write_text("n\n")
    assert str(open_results(folder)) == f"<study demo, not finished, in {folder}: 1 table>"
    (folder / "report").mkdir()
    (folder / "report/provenance.json").write_text("{}")
    assert repr(open_results(folder)).startswith("<study demo, finished, in ")
