"""Dense retrieval: a bi-encoder's vectors in a flat index, searched exactly, by pyterrier-dr."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.models.hubs import TCT_TOKENIZER, check_cached
from ragrelay.models.locations import model_path
from ragrelay.retrieval.frames import as_queries, as_run


def build_index(collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
    """Encode all passages of ``collection``, each after the definition's prefix, into a vector index in ``path``."""
    from pyterrier_dr import FlexIndex

    _set_threads(threads)
    index, prefix = FlexIndex(str(path), verbose=False), definition["passage_prefix"]
    passages = ({**passage, "text": prefix + passage["text"]} for passage in collection.passages())
    (_encoder(definition) >> index.indexer(mode="create")).index(passages)


def dense_run(queries: pl.DataFrame, definition: Mapping[str, Any], index: Path, threads: int) -> pl.DataFrame:
    """The ``depth`` largest dot products for each of ``queries`` (qid, query); returns qid, docno, score."""
    from pyterrier_dr import FlexIndex

    _set_threads(threads)
    searcher = FlexIndex(str(index), verbose=False).np_retriever(num_results=definition["depth"])
    asked = as_queries(queries.with_columns(query=pl.lit(definition["query_prefix"]) + pl.col("query")))
    return as_run((_encoder(definition) >> searcher)(asked))


def _encoder(definition: Mapping[str, Any]) -> Any:
    """TCT-ColBERT (Lin et al., 2020), TAS-B (Hofstaetter et al., SIGIR 2021) or any sentence-transformers model."""
    from pyterrier_dr import SBertBiEncoder, TasB, TctColBert

    check_cached(definition["model"], None, f"dense retriever's model {definition['model']!r}")
    if definition["encoder"] == "tct_colbert":
        check_cached(TCT_TOKENIZER, None, f"TCT-ColBERT's tokenizer {TCT_TOKENIZER!r}")
    encoders = {"sentence_transformers": SBertBiEncoder, "tct_colbert": TctColBert, "tas_b": TasB}
    return encoders[definition["encoder"]](
        model_path(definition["model"]), batch_size=definition["batch_size"], verbose=False
    )


def _set_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
