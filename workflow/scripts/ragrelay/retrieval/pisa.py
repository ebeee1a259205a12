"""Index and search with BM25 using PISA (Mallia et al., OSIRRC 2019) through PyTerrier, without Java."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.display.terminal import escaped
from ragrelay.collection.base import Collection
from ragrelay.retrieval.frames import as_queries, as_run


def build_index(collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
    """Index ``collection`` in the folder ``path``, with stemmer and stopwords from ``definition``."""
    with _pisa_quiet():
        index = _index(path, definition["stemmer"], definition["stopwords"], threads)
        index.index(collection.passages())


def search(queries: pl.DataFrame, settings: Mapping[str, Any], index: Path, threads: int) -> pl.DataFrame:
    """Run BM25 (with k1, b and depth from ``settings``) for ``queries`` (qid, query) and return qid, docno and score.

    PISA writes block weights for each (k1, b) next to the index. To keep these files out of the shared index, PISA
    searches a temporary folder with links to the index's files.
    """
    with tempfile.TemporaryDirectory(prefix="ragrelay-pisa-") as folder:
        for file in index.resolve().iterdir():
            (Path(folder) / file.name).symlink_to(file)
        with _pisa_quiet():
            opened = _index(Path(folder), settings["stemmer"], settings["stopwords"], threads)
            searcher = opened.bm25(k1=settings["k1"], b=settings["b"], num_results=settings["depth"], threads=threads)
            results = searcher(as_queries(queries))
    return as_run(results)


def words(text: str) -> list[str]:
    """Return the tokens in ``text`` before stemming: sequences of ASCII letters and digits."""
    from pyterrier_pisa import PisaStemmer, tokenize

    tokens: list[str] = tokenize(text, PisaStemmer("none"))
    return tokens


def _index(path: Path, stemmer: str | None, stopwords: str, threads: int) -> Any:
    from pyterrier_pisa import PisaIndex

    return PisaIndex(str(path), text_field="text", stemmer=stemmer, stops=stopwords, threads=threads)


@contextlib.contextmanager
def _pisa_quiet() -> Iterator[None]:
    """Hide the hundreds of progress lines that PISA's C++ code writes to the file descriptors, unless it fails."""
    with tempfile.TemporaryFile() as sink:
        sys.stdout.flush()
        sys.stderr.flush()
        kept = os.dup(1), os.dup(2)
        try:
            os.dup2(sink.fileno(), 1)
            os.dup2(sink.fileno(), 2)
            yield
        except BaseException:
            sink.seek(0)
            output = sink.read()[-4000:].decode("utf-8", "replace")
            os.write(kept[1], escaped(output).encode())
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for descriptor, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, descriptor)
                os.close(copy)
