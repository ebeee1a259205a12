"""A comparison reruns nothing of its studies; what changes rerun is in tests/dag/test_reruns.py."""

from collections.abc import Callable

import polars as pl
import pytest

from tests.support.sandbox import Sandbox, jobs_of

Copy = Callable[[], Sandbox]


def test_compare_sets_two_finished_studies_side_by_side(copied: Copy) -> None:
    study = copied()
    study.config["compare"] = {"before": "small", "after": "small", "pairs": {"retrievers": {"bm25": "rel"}}}
    study.write_config()
    assert jobs_of(study.snakemake("compare")) == {"compare_studies": 1, "compare": 1}
    folder = study.results / "compare/small-to-small"
    queries = pl.read_csv(folder / "queries.csv").filter(retriever="bm25 → rel", quantity="p")
    utility = pl.read_parquet(study.results / "small/utility/minilm/demo-lm.parquet")
    columns = ("ordering", "k", "references", "qid", "p")
    p = {name: utility.filter(retriever=name).select(columns) for name in ("bm25", "rel")}
    keys = ["ordering", "k", "references", "qid"]
    expected = p["rel"].join(p["bm25"], on=keys).select(*keys, change=pl.col("p") - pl.col("p_right"))
    found = queries.with_columns(pl.col("qid").cast(pl.String)).join(expected, on=keys)
    assert len(found) > 0 and found["difference"].to_list() == pytest.approx(found["change"].to_list())
    assert "bm25" in (folder / "index.html").read_text(encoding="utf-8")
