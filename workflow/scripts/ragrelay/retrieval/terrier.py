"""Index and search with BM25 and query expansion using Terrier, through PyTerrier (Macdonald et al., CIKM 2021).

Needs Java 11 or newer. PyTerrier downloads Terrier's jars once, to the folder PYTERRIER_HOME (by default
``~/.pyterrier``). The jars' versions are pinned here; otherwise, PyTerrier would query Maven Central at each start.
"""

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.collection.base import Collection
from ragrelay.retrieval.frames import as_queries, as_run

VERSION, HELPER_VERSION = "5.11", "0.0.8"
LONGEST_DOCNO = 64  # bytes, because Terrier's docno table has rows of fixed length


def build_index(collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
    """Index ``collection`` in the folder ``path``, in corpus order, with stemmer and stopwords from ``definition``.

    Raises InputError for a docno longer than LONGEST_DOCNO. ``threads`` is unused, because several threads would index
    the passages in varying order.
    """
    pt = started()
    indexer = pt.terrier.TerrierIndex(path).indexer(
        meta={"docno": LONGEST_DOCNO}, stemmer=definition["stemmer"], stopwords=definition["stopwords"], threads=1
    )
    indexer.index(_short(collection.passages()))


def search(queries: pl.DataFrame, settings: Mapping[str, Any], index: Path, threads: int) -> pl.DataFrame:
    """Run BM25, optionally with query expansion, for ``queries`` (qid, query); return qid, docno and score.

    Punctuation is removed from queries, because Terrier's query language has operators. Queries without words are left
    out. ``threads`` is unused, because PyTerrier calls its own threading experimental.
    """
    pt = started()
    topics = pt.rewrite.tokenise()(as_queries(queries))
    topics = topics[topics["query"].str.strip() != ""]
    opened = pt.terrier.TerrierIndex(index)
    searcher = opened.bm25(k1=settings["k1"], b=settings["b"], num_results=settings["depth"])
    pipeline = searcher >> _expansion(opened, settings) >> searcher if settings["expansion"] else searcher
    return as_run(pipeline(topics))


def words(text: str) -> list[str]:
    """Return the tokens in ``text`` (a passage or a query): sequences of ASCII letters and digits."""
    tokens: list[str] = list(_tokeniser().getTokens(text))
    return tokens


@functools.cache
def _tokeniser() -> Any:
    return started().java.autoclass("org.terrier.indexing.tokenisation.EnglishTokeniser")()


def _expansion(index: Any, settings: Mapping[str, Any]) -> Any:
    """Return RM3 (Abdul-Jaleel et al., TREC 2004), Bo1 or KL (Amati and van Rijsbergen, TOIS 2002)."""
    feedback = {"fb_docs": settings["feedback_passages"], "fb_terms": settings["feedback_terms"]}
    if settings["expansion"] == "rm3":
        return index.rm3(fb_lambda=settings["original_weight"], **feedback)
    return index.bo1(**feedback) if settings["expansion"] == "bo1" else index.kl(**feedback)


def started() -> Any:
    """Start Java and return PyTerrier. Raises InputError if Java is missing or a jar is unavailable."""
    import pyterrier as pt

    if not pt.java.started():
        pt.terrier.set_version(VERSION)
        pt.terrier.set_helper_version(HELPER_VERSION)
        try:
            pt.java.init()
        except (ValueError, OSError, RuntimeError) as error:
            expected = f"Java 11 or newer, and Terrier {VERSION} in {pt.io.pyterrier_home()} or a network to get it"
            raise InputError("retriever with engine terrier", str(error).splitlines()[0], expected) from error
    return pt


def _short(passages: Iterator[dict[str, str]]) -> Iterator[dict[str, str]]:
    for passage in passages:
        if len(passage["docno"].encode("utf-8")) > LONGEST_DOCNO:
            place = f"docno {passage['docno']!r}"
            raise InputError(place, "too many bytes for Terrier", f"at most {LONGEST_DOCNO} bytes, or engine pisa")
        yield passage
