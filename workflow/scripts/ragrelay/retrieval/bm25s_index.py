"""Index and search with BM25, using bm25s (Lù, 2024), whose index stores precomputed scores and is loaded into memory.

The tokenizer, stemmers and stopwords are the same as in PISA, so the two engines differ only in formula and speed. The
formula is Lucene's, in which IDF is never negative.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.retrieval.pisa import words as words
from ragrelay.retrieval.trec import RUN

METHOD = "lucene"
DOCNOS = "docnos.json"


def build_index(collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
    """Index ``collection`` in the folder ``path`` with the definition's stemmer, k1 and b. ``threads`` is unused."""
    import bm25s

    docnos, tokenised = [], []
    for passage in collection.passages():
        docnos.append(passage["docno"])
        tokenised.append(stemmed_words(passage["text"], definition["stemmer"]))
    index = bm25s.BM25(k1=definition["k1"], b=definition["b"], method=METHOD)
    index.index(tokenised, show_progress=False)
    index.save(path, show_progress=False)
    (path / DOCNOS).write_text(json.dumps(docnos), encoding="utf-8")


def search(queries: pl.DataFrame, settings: Mapping[str, Any], index: Path, threads: int) -> pl.DataFrame:
    """Run BM25 for ``queries`` (qid, query) on ``index`` and return qid, docno and score; scores of 0 are left out.

    As in PISA, stopwords are removed from queries. If a query repeats a word, every occurrence counts.
    """
    import bm25s

    docnos = json.loads((index / DOCNOS).read_text(encoding="utf-8"))
    opened = bm25s.BM25.load(index, mmap=True, show_progress=False)
    opened.backend = "numba"
    stopped = stopwords(settings["stopwords"])
    asked = [
        [
            word
            for word in stemmed_words(query, settings["stemmer"])
            if word not in stopped and word in opened.vocab_dict
        ]
        for query in queries["query"]
    ]
    known = [(qid, tokens) for qid, tokens in zip(queries["qid"], asked, strict=True) if tokens]
    if not known:
        return pl.DataFrame(schema=RUN)
    results = opened.retrieve(
        [tokens for _, tokens in known], k=min(settings["depth"], len(docnos)), n_threads=threads, show_progress=False
    )
    frame = pl.DataFrame(
        {
            "qid": [qid for qid, _ in known],
            "docno": [[docnos[place] for place in row] for row in results.documents.tolist()],
            "score": results.scores.astype("float64").tolist(),
        }
    )
    return (
        frame.explode("docno", "score")
        .filter(pl.col("score") > 0)
        .select(pl.col(name).cast(kind) for name, kind in RUN.items())
    )


def stemmed_words(text: str, stemmer: str | None) -> list[str]:
    """Split ``text`` into words with PISA's tokenizer, and return the stemmed words in order."""
    from pyterrier_pisa import PisaStemmer, tokenize

    stemmed: list[str] = tokenize(text, PisaStemmer(stemmer))
    return stemmed


@functools.cache
def stopwords(name: str) -> frozenset[str]:
    """Return Terrier's stopwords, or an empty set if ``name`` is `none`."""
    if name == "none":
        return frozenset()
    from pyterrier_pisa.stopwords import _STOPWORDS

    listed: Sequence[str] = _STOPWORDS[name]
    return frozenset(listed)
