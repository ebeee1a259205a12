"""The target that compares two studies: what it asks for, and that it reruns nothing of them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.support.sandbox import Sandbox, jobs_of


def test_compare_sets_two_finished_studies_side_by_side(copied: Callable[[], Sandbox]) -> None:
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


@pytest.mark.process
def test_compare_needs_two_studies(tmp_path: Path) -> None:
    clean = Sandbox(tmp_path / "study")
    done = clean.snakemake("--dry-run", "compare", check=False)
    assert done.returncode != 0
    assert "'compare': found no value; expected {before: <study>, after: <study>}" in done.stdout + done.stderr
    unknown = ("--dry-run", "compare", "--config", "compare={before: small, after: othr}")
    done = clean.snakemake(*unknown, check=False)
    missing = "config key 'compare.after': found 'othr', which has no results/othr/report/index.html; expected "
    assert done.returncode != 0 and "Traceback" not in done.stdout + done.stderr
    assert missing + "a finished study in results, but there is none" in done.stdout + done.stderr
    page = clean.folder / "results/other/report/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("")
    done = clean.snakemake(*unknown, check=False)
    assert missing + "a finished study in results: other" in done.stdout + done.stderr
    planned = clean.planned("compare", "--config", "compare={before: other, after: small}")
    assert planned["compare_studies"] == planned["write_page"] == 1  # this study's report is made where it lacks
    aside = clean.planned("compare", "--config", "compare={before: other, after: results/other/}")
    assert set(aside) == {"compare", "compare_studies"}


@pytest.mark.full
def test_processed_retrievers_are_compared_too(processed: Sandbox, tmp_path: Path) -> None:
    study = processed.copied_to(tmp_path / "study")
    shutil.copytree(study.results, study.folder / "results/before", symlinks=True)
    study.config["compare"] = {"before": "before", "after": "small"}
    study.write_config()
    study.snakemake("compare")
    tables = (study.results / "compare").glob("**/*.csv")
    assert any("halved" in path.read_text(encoding="utf-8") for path in tables)
