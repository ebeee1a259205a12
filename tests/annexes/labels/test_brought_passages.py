"""eRAG of two readers from files alone: answers to whole contexts, and to single passages; no engine."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.study

READERS = ("small", "base")
GRID: dict[str, Any] = {
    "retrievers": ["bm25", "rel"],
    "orderings": ["descending"],
    "k": [2, 3, 5],
    "seeds": [1],
    "scorers": ["rouge1"],
    "generators": list(READERS),
    "annotations": ["qrels", "erag", "p0"],
    "annotation_measures": ["P", "Success", "nDCG"],
}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def write_answers(study: Sandbox) -> dict[tuple[str, str], str]:
    """Two files for each reader; an answer repeats a part of a passage. Returns the answers to single passages."""
    lines = (study.collection / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {passage["doc_id"]: passage["text"] for passage in map(json.loads, lines)}
    qids = [line.split("\t")[0] for line in (study.collection / "queries.tsv").read_text().splitlines()]
    alone = {(qid, docno): text[:60] for qid in qids for docno, text in texts.items()}
    for place, name in enumerate(READERS, start=1):
        cells = [
            {"qid": qid, "retriever": retriever, "k": k, "answer": text[: 40 * place + 9 * k]}
            for retriever in GRID["retrievers"]
            for k in GRID["k"]
            for qid, text in zip(qids, list(texts.values())[k:], strict=False)
        ]
        zeroshot = [{"qid": qid, "k": 0, "answer": text[:30]} for qid, text in zip(qids, texts.values(), strict=False)]
        write_lines(study.folder / f"answers/{name}.jsonl", [*cells, *zeroshot])
        passages = [{"qid": qid, "docno": docno, "answer": text} for (qid, docno), text in alone.items()]
        write_lines(study.folder / f"answers/{name}.passages.jsonl", passages)
    return alone


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    made = Sandbox(tmp_path_factory.mktemp("readers") / "study")
    made.alone = write_answers(made)  # type: ignore[attr-defined]
    made.config["grid"] = {**made.config["grid"], **GRID}
    made.config["annotation_depth"] = 5
    made.config["generators"] = {
        name: {"engine": "file", "path": f"answers/{name}.jsonl", "single_passages": f"answers/{name}.passages.jsonl"}
        for name in READERS
    }
    made.write_config()
    made.snakemake("erag")
    return made


def test_labels_are_the_scores_of_the_answers_in_the_file(study: Sandbox) -> None:
    folder = study.results / "small/annotations"
    answers = pl.read_parquet(folder / "answers/small.parquet")
    alone = study.alone  # type: ignore[attr-defined]
    assert answers.height and all(alone[row["qid"], row["docno"]] == row["answer"] for row in answers.to_dicts())
    labels = pl.read_parquet(folder / "labels/rouge1/small/labels.parquet").filter(source="erag")
    ranked = pl.concat(pl.read_parquet(study.results / f"small/contexts/{name}.parquet") for name in ("bm25", "rel"))
    ranked = ranked.filter(pl.col("rank") <= 5).select("qid", "docno").unique()
    assert labels.select("qid", "docno").unique().join(ranked, on=["qid", "docno"], how="anti").is_empty()
    assert labels["label"].min() >= 0 and labels["label"].n_unique() > 5


def test_figures_of_the_paper_and_their_numbers(study: Sandbox) -> None:
    report = study.results / "report"
    for name in ("annotation_best_rouge1", "annotation_readers_rouge1"):
        for ending in ("svg", "png", "pdf"):
            assert (report / f"figures/{name}.{ending}").stat().st_size > 1000
    drawn = (report / "figures/annotation_readers_rouge1.svg").read_text(encoding="utf-8")
    assert all(f">{name}<" in drawn for name in READERS) and "small · bm25 · erag" in drawn
    best = pl.read_csv(report / "tables/annotation_best_rouge1.csv")
    erag = best.filter(source="erag", retriever="bm25", references="lenient", quantity="p", coefficient="kendall")
    assert erag.select("generator", "k").rows() == [(name, k) for name in READERS for k in (2, 3, 5)]
    assert erag.group_by("generator").agg(pl.col("measure").n_unique())["measure"].to_list() == [1, 1]
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "annotations-rouge1-annotation_readers" in page or "annotation_readers" in page


def test_what_the_files_lack_is_counted(study: Sandbox) -> None:
    counts = json.loads((study.results / "small/annotations/answers/small.left_out.json").read_text())
    assert [one["count"] for one in counts] == [0, 0, 0] and counts[-1]["of"]["needed"] > 40
    left_out = pl.read_csv(study.results / "report/tables/left_out.csv")
    assert left_out.filter(pl.col("what").str.contains("ranked passages and seeds")).height == 2
