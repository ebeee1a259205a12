"""Catalogued sets by their real ids and ir_datasets' own code, from files in its home folder instead of downloads."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from tests.support.sandbox import Sandbox

PASSAGES = {
    "0": "The heart pumps blood through the body.",
    "1": "A pump moves water from a well.",
    "2": "Tea is grown on hills in the cool rain.",
    "3": "Coronary arteries are vessels of the heart.",
}
QUERIES = {"19": ("10", "what pumps blood"), "20": ("20", "where is tea grown")}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small MS MARCO with the TREC queries of 2019 and 2020, and a small Wikipedia with a Natural Question."""
    marco, wikipedia = tmp_path / "home/msmarco-passage", tmp_path / "home/dpr-w100"
    for folder in (marco / "trec-dl-2019", marco / "trec-dl-2020", wikipedia):
        folder.mkdir(parents=True)
    (marco / "irds_version.txt").write_text("v2")
    (marco / "collection.tsv").write_text("".join(f"{docno}\t{text}\n" for docno, text in PASSAGES.items()))
    for year, (qid, text) in QUERIES.items():
        folder, line = marco / f"trec-dl-20{year}", f"{qid}\t{text}\n"
        (folder / "queries.tsv").write_text(line)
        (folder / "queries.tsv.gz").write_bytes(gzip.compress(line.encode()))
        (folder / "qrels").write_text("".join(f"{qid} Q0 {docno} {label}\n" for docno, label in enumerate("3102")))
    rows = "".join(f'{docno}\t"{text}"\tTitle {docno}\n' for docno, text in PASSAGES.items())
    (wikipedia / "docs.tsv.gz").write_bytes(gzip.compress(f"id\ttext\ttitle\n{rows}".encode()))
    question = {
        "question": "what does the heart pump",
        "answers": ["blood", "the blood"],
        "positive_ctxs": [{"passage_id": "0", "score": 1000}, {"passage_id": "3", "score": 12.5}],
        "hard_negative_ctxs": [{"passage_id": "1", "score": 3.0}],
        "negative_ctxs": [],
    }
    (wikipedia / "nq-dev.json.gz").write_bytes(gzip.compress(json.dumps([question]).encode()))
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IR_DATASETS_SKIP_DISK_FREE", "true")
    return tmp_path / "home"


def test_query_sets_share_the_index_of_their_corpus(home: Path, tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    study.config["grid"] = {**study.config["grid"], "datasets": ["dl19", "dl20", "nq"], "retrievers": ["bm25", "rel1"]}
    study.write_config()
    study.snakemake("all_runs")

    def table(dataset: str, path: str) -> pl.DataFrame:
        return pl.read_parquet(study.results / dataset / path)

    indexes = sorted(path.parent.name for path in (study.results / "indexes").glob("*/*.json"))
    assert indexes == ["dpr-w100", "msmarco-passage"], "one of both TREC sets"
    assert len(list((study.folder / "cache/indexes").iterdir())) == 2
    assert table("dl19", "collection/queries.parquet").rows() == [QUERIES["19"]]
    assert table("dl20", "contexts/bm25.parquet").filter(rank=1)["text"].to_list() == [PASSAGES["2"]]
    questions = table("nq", "collection/queries.parquet")
    assert questions.rows() == [("0", "what does the heart pump", ["blood", "the blood"])]
    assert sorted(table("nq", "collection/qrels.parquet").rows()) == [("0", "0", 2), ("0", "1", 0), ("0", "3", 1)]
    assert set(table("nq", "contexts/rel1.parquet")["docno"]) == {"0", "3"}
    copies = [path for path in study.folder.rglob("*") if path.is_file() and "collection.tsv" in path.name]
    assert copies == [], "the corpus stays in ir_datasets' home"
