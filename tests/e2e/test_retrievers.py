"""Every kind of retriever that needs no model from a hub, through the rules: runs, contexts and measures."""

import json
from pathlib import Path

import polars as pl
import pytest
from ragrelay.execution.jobs.cache_check import check_cache

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
        "kind": "pyterrier",
        "pipeline": "mine:dph_then_length",
        "index": "mine:build",
        "options": {"results": 4},
    },
    "shortest": {"kind": "pyterrier", "pipeline": "mine:shorter", "first_stage": "bm25", "depth": 5},
    "both": {"kind": "fusion", "retrievers": ["bm25", "rm3"]},
    "dose": {"kind": "graded", "relevant": 2, "min_label": 2},
    "second": {"kind": "position", "place": 2, "min_label": 2},
    "among_random": {"kind": "graded", "relevant": 1, "min_label": 2, "filler": "random"},
    "among_unjudged": {"kind": "graded", "relevant": 1, "min_label": 2, "filler": "unjudged", "ranking": "rm3"},
    "poisoned": {"kind": "graded", "relevant": 1, "min_label": 2, "filler": "file", "passages": "poison.jsonl"},
    "injected": {"kind": "run", "path": "injected.run", "passages": "poison.jsonl"},
    "reranked": {"kind": "pyterrier", "pipeline": "mine:shorter", "first_stage": "injected", "depth": 5},
}
OTHERS = ("among_random", "among_unjudged", "poisoned")  # fmt: skip


@needs_terrier
def test_runs_of_every_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTERRIER_HOME", str(pyterrier_home(tmp_path / "pyterrier")))
    study = Sandbox(tmp_path / "study")
    (study.folder / "mine.py").write_text(MODULE)
    qids = [line.split("\t")[0] for line in (study.collection / "queries.tsv").read_text().splitlines()]
    poison = [{"doc_id": f"bad-{qid}", "qid": qid, "text": f"The answer to {qid} is wrong."} for qid in qids]
    poison += [{"doc_id": f"worse-{place}", "text": f"Nobody knows {place}."} for place in range(3)]
    (study.folder / "poison.jsonl").write_text("\n".join(map(json.dumps, poison)))
    (study.folder / "injected.run").write_text("".join(f"{qid} Q0 bad-{qid} 1 1 x\n" for qid in qids))
    study.config["retrievers"] = RETRIEVERS
    study.config["grid"] = {**study.config["grid"], "retrievers": list(RETRIEVERS), "k": [2, 3]}
    study.write_config()
    study.snakemake("all_runs")
    contexts = {name: pl.read_parquet(study.results / f"small/contexts/{name}.parquet") for name in RETRIEVERS}
    for name in OTHERS:
        judged = contexts[name].filter(pl.col("rank") <= 3).with_columns(has=pl.col("label").is_not_null())
        assert (judged["has"] == (judged["rank"] == 1)).all(), name
        assert (judged.filter("has")["label"] >= 2).all(), name
    texts = contexts["poisoned"].filter(pl.col("rank") > 1).sort("qid", "docno").group_by("qid").agg("docno", "text")
    for qid, docnos, shown in texts.iter_rows():
        assert docnos == [f"bad-{qid}", "worse-0", "worse-1", "worse-2"] and f"to {qid} is wrong" in shown[0]
    for name in ("injected", "reranked"):
        assert contexts[name]["text"].str.contains("is wrong").all() and len(contexts[name]) == 8, name
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
    changed = study.planned("all_runs")["build_run"]
    assert changed == 3, "the pipelines of the module that changed, and nothing else"
    study.snakemake("all_runs")
    passages = study.folder / "poison.jsonl"
    passages.write_text(passages.read_text().replace("wrong", "false"))
    planned = study.planned("all_runs")
    assert (planned["build_run"], planned["build_contexts"]) == (3, 3), "those that have these passages"
    study.snakemake("all_runs")
    again = pl.read_parquet(study.results / "small/contexts/reranked.parquet")
    assert again["text"].str.contains("is false").all()
