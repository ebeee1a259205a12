"""The page's tables of questions to a model."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from ragrelay.report.page import render_page
from ragrelay.report.questions import read_questions
from ragrelay.report.reading import read_study

from tests.support.report_study import write_study


def declared(name: str, files: int) -> dict[str, object]:
    said = {"heading": f"Heading of {name}", "sentence": "What it <is>.", "about": "its table", "rule": f"read_{name}"}
    return {**said, "file": f"{{dataset}}/{name}/{{retriever}}.parquet", "files": files}


def test_means_of_each_file_with_nulls_counted(tmp_path: Path) -> None:
    paths = [tmp_path / "d1" / name for name in ("sure/bm25.parquet", "sure/rel.parquet", "known/bm25.parquet")]
    for path, values in zip(paths, ([0.25, None], [0.5, 1.0], [0.5, 0.5]), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"qid": ["q1", "q2"], "k": [1, 2], "sure_of_it": values, "yes": [True, False]}).write_parquet(path)
    first, second = read_questions([declared("sure", 2), declared("known", 1)], list(map(str, paths)))
    titles = ["dataset", "retriever", "rows", "missing", "mean sure of it", "mean yes"]
    assert [column.title for column in first.table.columns] == titles
    assert first.table.rows == [["d1", "bm25", "2", "1", "0.250", "0.500"], ["d1", "rel", "2", "0", "0.750", "0.500"]]
    assert second.table.rows == [["d1", "bm25", "2", "0.500", "0.500"]], "nothing is missing, so no column says so"


@pytest.mark.page
def test_the_page_has_their_sentences(tmp_path: Path) -> None:
    path = tmp_path / "d1/sure/bm25.parquet"
    path.parent.mkdir(parents=True)
    pl.DataFrame({"qid": ["q1"], "sure": [0.125]}).write_parquet(path)
    files = write_study(tmp_path / "study", n=8)
    assert 'id="questions"' not in render_page(read_study(**files))
    page = render_page(replace(read_study(**files), questions=read_questions([declared("sure", 1)], [str(path)])))
    section = page.split('id="questions"')[1].split("</details>")[0]
    assert "Heading of sure" in section and "What it &lt;is&gt;." in section and "<td>0.125</td>" in section
    assert '<a href="#questions"' in page
