"""Retrieve with BM25, using PISA, Terrier or bm25s."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.collection.base import Collection
from ragrelay.collection.words import check_words, count_cut, sampled
from ragrelay.retrieval.retriever import Retriever, RunTask

ENGINES: dict[str, dict[str, Any]] = {
    "pisa": {"k1": 0.9, "b": 0.4, "stemmer": "porter2"},
    "terrier": {"k1": 1.2, "b": 0.75, "stemmer": "porter"},
    "bm25s": {"k1": 0.9, "b": 0.4, "stemmer": "porter2"},
}
STEMMERS = {"terrier": ("porter", "none")} | dict.fromkeys(("pisa", "bm25s"), ("porter2", "krovetz", "none"))
FEEDBACK: dict[str, Any] = {"feedback_passages": 3, "feedback_terms": 10}
RM3_WEIGHT = "original_weight"
OTHER_RETRIEVERS = (
    "a dense retriever with a model of the language, or, for words between blanks, a pyterrier pipeline with Terrier's "
    "tokeniser utf"
)
"""What error messages suggest for texts with letters that BM25 engines' tokenizers drop."""


class Bm25(Retriever):
    """BM25 over an inverted index.

    All engines read only ASCII letters and digits. Queries or passages are rejected if more than 5% of words have no
    such characters, as in Russian or Japanese, or if most words would be split at other letters, as in Vietnamese.
    """

    engine: Literal["pisa", "terrier", "bm25s"] = Field(
        "pisa",
        description="Search engine. `pisa` reads the index from disk and suits corpora of any size. `bm25s` keeps the "
        "index in memory and answers more queries per second; it suits corpora of up to about a million passages. "
        "`terrier` offers query expansion; it needs Java 11 or newer, and PyTerrier downloads Terrier's jars once.",
    )
    k1: float | None = Field(
        None,
        ge=0,
        description="BM25's term-frequency saturation. Defaults to 1.2 with Terrier and to 0.9 with the other engines.",
    )
    b: float | None = Field(
        None,
        ge=0,
        le=1,
        description="BM25's length normalisation. Defaults to 0.75 with Terrier and to 0.4 with the other engines.",
    )
    stemmer: Literal["porter2", "krovetz", "porter", "none"] | None = Field(
        None,
        description="Stemmer for the index and the queries. Defaults to `porter` with Terrier and to `porter2` with "
        "the other engines.",
    )
    stopwords: Literal["terrier", "none"] = Field("terrier", description="Stopword list for the index and the queries.")
    depth: int = Field(1000, ge=1, description="Number of results per query.")
    expansion: Literal["rm3", "bo1", "kl"] | None = Field(
        None,
        description="Query expansion from the top passages of a first search (only with engine `terrier`): the "
        "relevance model RM3, or Bo1 or KL (divergence from randomness). By default, queries aren't expanded.",
    )
    feedback_passages: int | None = Field(
        None, ge=1, description="Number of top passages from which the expansion terms are taken. Defaults to 3."
    )
    feedback_terms: int | None = Field(None, ge=1, description="Number of expansion terms. Defaults to 10.")
    original_weight: float | None = Field(
        None,
        ge=0,
        le=1,
        description="RM3's lambda, the weight of the original query relative to the expansion. Defaults to 0.6.",
    )

    @classmethod
    def completed(cls, definition: Mapping[str, Any], folder: Path) -> dict[str, object]:
        """Fill in the default settings of the engine and of query expansion."""
        filled = ENGINES[definition["engine"]] | dict(definition)
        if "expansion" in filled:
            filled = FEEDBACK | ({RM3_WEIGHT: 0.6} if filled["expansion"] == "rm3" else {}) | filled
        return filled

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the engine supports the stemmer, and that query expansion is only configured with Terrier."""
        if self.stemmer not in STEMMERS[self.engine]:
            expected = one_of(STEMMERS[self.engine], self.stemmer, what=f"a stemmer of engine {self.engine}")
            raise InputError(place + ".stemmer'", repr(self.stemmer), expected)
        if self.expansion and self.engine != "terrier":
            raise InputError(place + ".expansion'", f"{self.expansion!r} with engine {self.engine}", "engine terrier")
        for key in (*FEEDBACK, RM3_WEIGHT):
            alone = ("rm3",) if key == RM3_WEIGHT else ("rm3", "bo1", "kl")
            if (value := getattr(self, key)) is not None and self.expansion not in alone:
                raise InputError(f"{place}.{key}'", str(value), f"this key only with expansion {' or '.join(alone)}")

    def index_definition(self) -> dict[str, object]:
        """Return the engine, the text settings and, for bm25s, k1 and b, on which the stored scores depend."""
        if self.engine == "bm25s":
            return {"index": self.engine, "stemmer": self.stemmer, "k1": self.k1, "b": self.b}
        return {"index": self.engine, "stemmer": self.stemmer, "stopwords": self.stopwords}

    @classmethod
    def index_identity(cls, definition: Mapping[str, object]) -> dict[str, object]:
        """Return the definition and the version of Terrier or bm25s."""
        if definition["index"] == "pisa":
            return dict(definition)
        if definition["index"] == "bm25s":
            return {**definition, "version": version("bm25s")}
        from ragrelay.retrieval.terrier import VERSION

        return {**definition, "version": VERSION}

    @classmethod
    def build_index(cls, collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
        """Build the engine's inverted index. Raises InputError if the engine can't read the passages' words."""
        _check_words(definition["index"], "passages", sampled(collection))
        _engine(definition["index"]).build_index(collection, definition, path, threads)

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the engine's results, with query expansion if configured.

        Raises InputError if the engine can't read the words in the queries or passages.
        """
        _check_words(self.engine, "queries", task.queries["query"])
        _check_words(self.engine, "passages", sampled(task.collection))
        results: pl.DataFrame = _engine(self.engine).search(task.queries, dict(self), task.index_folder, task.threads)
        return results

    def doubts(self, queries: pl.DataFrame) -> list[dict[str, object]]:
        """Return how many queries contain words that the engine's tokenizer splits, if there are many such queries."""
        return count_cut(queries["query"].to_list(), _engine(self.engine).words)

    def uses_terrier(self) -> bool:
        """Return whether the engine is Terrier."""
        return self.engine == "terrier"


def _check_words(engine: str, what: str, texts: Iterable[str]) -> None:
    check_words(f"retriever of kind bm25 with engine {engine}", what, texts, _engine(engine).words, OTHER_RETRIEVERS)


def _engine(name: str) -> Any:
    from ragrelay.retrieval import bm25s_index, pisa, terrier

    return {"pisa": pisa, "terrier": terrier, "bm25s": bm25s_index}[name]
