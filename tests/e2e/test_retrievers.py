"""Every kind of retriever that needs no model from a hub, through the rules: runs, contexts and measures."""

from pathlib import Path

import polars as pl
import pytest
from ragrelay.workflow.jobs.cache_check import check_cache

from tests.support.sandbox import Sandbox
from tests.support.terrier_jars import needs_terrier, pyterrier_home

MODULE = """
import pyterrier as pt
from pyterrier_pisa import PisaIndex

def build(corpus, folder):
    PisaIndex(str(folder / "pisa"), text_field="text").index(corpus.passages())

def dph_then_length(corpus, index, results):
    texts = pt.apply.generic(lambda found: found.assign(text=found["docno"].map(corpus.texts(list(found["docno"])))))
    dph = PisaIndex(str(index / "pisa")).dph(num_results=results)
    return dph >> texts >> pt.apply.doc_score(lambda row: float(len(row["text"])))

def shorter(corpus, index):
    return pt.apply.doc_score(lambda row: -float(len(row["text"])))
"""
RETRIEVERS = {
    "terrier": {"kind": "bm25", "engine": "terrier"},
    "rm3": {"kind": "bm25", "engine": "terrier", "expansion": "rm3"},
    "longest": {
        "kind": "pyterrier", "pipeline": "mine:dph_then_length", "index": "mine:build", "options": {"results": 4},
    },
    "shortest": {"kind": "pyterrier", "pipeline": "mine:shorter", "first_stage": "bm25", "depth": 5},
    "both": {"kind": "fusion", "retrievers": ["bm25", "rm3"]},
    "dose": {"kind": "graded", "relevant": 2, "min_label": 2},
    "second": {"kind": "position", "place": 2, "min_label": 2},
}  # fmt: skip


@needs_terrier
def test_runs_of_every_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTERRIER_HOME", str(pyterrier_home(tmp_path / "pyterrier")))
    study = Sandbox(tmp_path / "study")
    (study.folder / "mine.py").write_text(MODULE)
    study.config["retrievers"] = RETRIEVERS
    study.config["grid"] = {**study.config["grid"], "retrievers": list(RETRIEVERS), "k": [2, 3]}
    study.write_config()
    study.snakemake("all_runs")
    contexts = {name: pl.read_parquet(study.results / f"small/contexts/{name}.parquet") for name in RETRIEVERS}
    for name, found in contexts.items():
        assert found["qid"].n_unique() == 8 and found["text"].str.len_chars().min() > 0, name
    assert len(contexts["longest"]) == 8 * 4 and len(contexts["shortest"]) == 8 * 5
    lengths = contexts["shortest"].sort("qid", "rank").group_by("qid").agg(pl.col("text").str.len_chars())["text"]
    assert all(per_query == sorted(per_query) for per_query in lengths.to_list())
    labels = contexts["dose"].filter(pl.col("rank") <= 3).sort("qid", "rank").group_by("qid").agg("label")["label"]
    assert all([label >= 2 for label in per_query] == [True, True, False] for per_query in labels.to_list())
    assert (contexts["second"].filter(rank=2)["label"] >= 2).all()
    assert (contexts["second"].filter(pl.col("rank") != 2)["label"] <= 0).all()
    assert not list(check_cache(study.folder / "cache")), "a search changed an index"
    assert study.planned("all_runs") == {}, "a second run has nothing to do"
    module = study.folder / "mine.py"
    module.write_text(module.read_text().replace("-float", "-2 * float"))
    assert study.planned("all_runs")["build_run"] == 2, "the pipelines of the module that changed, and nothing else"
