"""A collection with subtopics, from its files to the page: alpha_nDCG comes out first only where answers cover.

The answers are imported and scored by files. In the study's scorer `covers`, the first passage on a subtopic adds most
to an answer, a further one half of that, and late passages less; in `counts`, each relevant passage adds the same.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.measure_comparison.closeness import BEATEN, MOST_CLOSELY

from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.study
QUERIES, RUNS, K, SUBTOPICS, POOL = 60, 5, 5, 4, 14
MEASURES = ["nDCG", "P", "RR", "StRecall", "alpha_nDCG"]
NAMES = [f"run{number}" for number in range(RUNS)]


class Made:
    """Random rankings of made-up pools; relevant passages come in near-equal groups on one subtopic."""

    def __init__(self, folder: Path) -> None:
        self.study, random = Sandbox(folder), np.random.default_rng(11)
        collection = folder / "covered"
        collection.mkdir()
        self.topics: dict[str, list[set[int]]] = {}
        passages, queries, qrels, lists = [], [], [], {name: [] for name in NAMES}
        scores: dict[str, list[dict[str, object]]] = {"covers": [], "counts": []}
        answers = []
        for number in range(QUERIES):
            qid = f"q{number}"
            queries.append(f"{qid}\twhat is thing {number}")
            topics = [{int(random.integers(SUBTOPICS))} if place < 8 else set() for place in range(POOL)]
            for subtopic in range(SUBTOPICS):
                topics[int(random.integers(8))].add(subtopic)
            for place, covered in enumerate(topics):
                docno = f"{qid}d{place}"
                passages.append(json.dumps({"doc_id": docno, "text": f"passage {place} on thing {number}"}))
                qrels += [f"{qid} {subtopic} {docno} 1" for subtopic in sorted(covered)] or [f"{qid} 0 {docno} 0"]
            level = random.normal(0, 0.1)
            for name in ("zeroshot", *NAMES):
                order = random.permutation(POOL)
                ranked = [topics[place] for place in order[:K]] if name != "zeroshot" else []
                docnos = [f"{qid}d{place}" for place in order]
                if name != "zeroshot":
                    lists[name] += [f"{qid} Q0 {docno} {rank} {-rank} {name}" for rank, docno in enumerate(docnos, 1)]
                answers.append(
                    {"qid": qid, "retriever": name, "k": K if ranked else 0, "seed": 1, "answer": f"{name} on {qid}"}
                )
                for scorer, value in (("covers", covering(ranked)), ("counts", sum(map(bool, ranked)) / K)):
                    noisy = float(np.clip(0.3 + 0.5 * value + level + random.normal(0, 0.04), 0, 1))
                    scores[scorer].append({"run_id": name, "topic_id": qid, "measure": scorer, "value": noisy})
        write(collection / "passages.jsonl", passages)
        write(collection / "queries.tsv", queries)
        write(collection / "qrels.txt", qrels)
        for name, lines in lists.items():
            write(folder / f"{name}.run", lines)
        for name, rows in {"answers": answers, **scores}.items():
            write(folder / f"{name}.jsonl", [json.dumps(row) for row in rows])
        grid = {"datasets": ["covered"], "retrievers": NAMES, "orderings": ["descending"], "k": [K], "seeds": [1],
                "generators": ["theirs"], "scorers": ["covers", "counts"], "measures": MEASURES}  # fmt: skip
        self.study.config |= {
            "grid": grid,
            "datasets": {
                "covered": {"source": "local", "path": "covered", "subtopics": True, "references": {"any": 1}}
            },
            "generators": {"theirs": {"engine": "file", "path": "answers.jsonl"}},
            "retrievers": {name: {"kind": "run", "path": f"{name}.run"} for name in NAMES},
            "scorers": {
                name: {"kind": "file", "path": f"{name}.jsonl", "measure": name} for name in ("covers", "counts")
            },
            "compare_measures": {},
        }
        self.study.write_config()

    def verdicts(self, scorer: str) -> dict[str, str]:
        table = pl.read_csv(self.study.results / f"covered/analysis/{scorer}/theirs/measure_fit.csv")
        return dict(table.select("measure", "verdict").iter_rows())


def covering(ranked: list[set[int]]) -> float:
    """What the answer to a list says: the first passage on a subtopic adds most, and late passages less."""
    seen, value = np.zeros(SUBTOPICS), 0.0
    for rank, topics in enumerate(ranked, 1):
        for subtopic in topics:
            value += 0.5 ** seen[subtopic] / math.log2(rank + 1)
            seen[subtopic] += 1
    return value / 3


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    made = Made(tmp_path_factory.mktemp("covered") / "study")
    made.study.snakemake()
    yield made


def test_alpha_ndcg_comes_out_first_where_answers_cover(made: Made) -> None:
    assert made.verdicts("covers")["alpha_nDCG"] == MOST_CLOSELY


def test_it_does_not_where_answers_count(made: Made) -> None:
    verdicts = made.verdicts("counts")
    assert verdicts["P"] == MOST_CLOSELY and verdicts["alpha_nDCG"] == BEATEN


def test_the_page_says_so(made: Made) -> None:
    page = (made.study.results / "report/index.html").read_text(encoding="utf-8")
    assert "alpha_nDCG tracks answer quality most closely" in page and "P tracks answer quality most closely" in page
    facts = json.loads((made.study.results / "report/facts.json").read_text(encoding="utf-8"))
    assert isinstance(facts, dict)


def test_another_measure_makes_no_answer_and_no_score_again(made: Made) -> None:
    made.study.config["grid"]["measures"] = [*MEASURES, "AP"]
    made.study.write_config()
    dry = made.study.snakemake("-n").stdout
    assert "compare_measures" in dry and "measure_retrieval" in dry
    assert "read_answers" not in dry and "score_answers" not in dry
    made.study.config["grid"]["measures"] = MEASURES
    made.study.write_config()
    made.study.snakemake()
    assert "Nothing to be done" in made.study.snakemake("-n").stdout
