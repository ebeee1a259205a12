"""Queries per second of the workflow's PISA run against bm25s over the same passages.

    python benchmarks/retrieval.py --out retrieval.json

Passages are put together of sentences of the demo's collection, queries of words that follow each other there. Neither
side stems or drops stopwords, so that both search the same words. A run is timed whole: from query texts to ranked
results, with what PISA computes anew for its k1 and b; indexing is left out.
"""

import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bm25s
import polars as pl
from ragrelay.collection import open_collection
from ragrelay.retrieval import pisa
from ragrelay.retrieval.retrievers.bm25 import Bm25

from benchmarks.shared import pairs, record
from benchmarks.shared.workflow import ROOT

BM25 = {"k1": 0.9, "b": 0.4, "stemmer": "none", "stopwords": "none", "engine": "pisa"}
THREADS = 2


class Passages:
    """A collection of ``texts``, as far as an index needs one."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def passages(self) -> Iterator[dict[str, str]]:
        """docno and text of every passage."""
        return ({"docno": str(place), "text": text} for place, text in enumerate(self.texts))


def synthesise(passages: int, queries: int) -> tuple[list[str], list[str]]:
    """Texts of passages (3 sentences each) and of queries (4 words each)."""
    collection = open_collection({"source": "local", "path": "resources/demo/collection", "references": {}}, ROOT)
    sentences = [part for row in collection.passages() for part in re.split(r"(?<=[.;?!]) +", row["text"])]
    draw = random.Random(0)
    texts = [" ".join(draw.sample(sentences, 3)) for _ in range(passages)]
    words = [found for sentence in sentences if len(found := re.findall(r"[a-z]{3,}", sentence.lower())) >= 4]
    starts = [draw.choice(words) for _ in range(queries)]
    return texts, [" ".join(found[at : at + 4]) for found in starts for at in [draw.randrange(len(found) - 3)]]


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--passages", type=int, default=50_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--depth", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    texts, queries = synthesise(given.passages, given.queries)
    table = pl.DataFrame({"qid": [str(place) for place in range(len(queries))], "query": queries})
    retriever = Bm25(**BM25, depth=given.depth)  # type: ignore[arg-type]
    engines = {
        name: bm25s.BM25(k1=BM25["k1"], b=BM25["b"], method="lucene", backend=name) for name in ("numpy", "numba")
    }
    tokens = bm25s.tokenize(texts, stopwords=None, show_progress=False)
    for engine in engines.values():
        engine.index(tokens, show_progress=False)
    found: dict[str, Any] = {}

    def theirs(name: str) -> None:
        asked = bm25s.tokenize(queries, stopwords=None, show_progress=False)
        found[name] = engines[name].retrieve(asked, k=given.depth, n_threads=THREADS, show_progress=False)[0]

    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        pisa.build_index(Passages(texts), BM25, index, THREADS)  # type: ignore[arg-type]

        def ours() -> None:
            found["pisa"] = pisa.search(table, dict(retriever), index, THREADS)

        candidates = {"pisa": ours, "numpy": lambda: theirs("numpy"), "numba": lambda: theirs("numba")}
        pairs.alternating(candidates, 1)  # numba compiles
        seconds = pairs.alternating(candidates, given.rounds)
    first = found["pisa"].sort("score", descending=True).group_by("qid").first()
    best = {qid: int(docno) for qid, docno in first.select("qid", "docno").iter_rows()}
    same = sum(best.get(str(place)) == int(found["numpy"][place][0]) for place in range(len(queries)))
    rates = {name: record.figure(len(queries) / pairs.median(spent), "queries/s") for name, spent in seconds.items()}
    figures = {
        "throughput: PISA ÷ bm25s": pairs.ratio(seconds, "numpy", "pisa"),
        "throughput: PISA ÷ bm25s with numba": pairs.ratio(seconds, "numba", "pisa"),
        "throughput: PISA": rates["pisa"],
        "throughput: bm25s": rates["numpy"],
        "throughput: bm25s with numba": rates["numba"],
        "share of queries for which PISA and bm25s rank the same passage first": record.figure(same / len(queries)),
    }
    setting = (
        f"{given.passages:,} passages, {given.queries:,} queries of 4 words, {given.depth:,} results per query, "
        f"{THREADS} threads, {given.rounds} rounds"
    )
    record.write_record(given, setting, figures, ["pyterrier-pisa", "bm25s", "numba"])


if __name__ == "__main__":
    main()
