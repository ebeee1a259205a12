"""Reranking another retriever's top: MonoT5 (Nogueira et al., Findings of EMNLP 2020) or a cross-encoder."""

import functools
from collections.abc import Mapping
from typing import Any

import pandas as pd
import polars as pl

from ragrelay.errors import InputError
from ragrelay.models.hubs import check_cached
from ragrelay.models.locations import model_path
from ragrelay.retrieval.frames import as_run


def rerank_run(top: pd.DataFrame, definition: Mapping[str, Any], threads: int) -> pl.DataFrame:
    """Rescore ``top``, PyTerrier results with text (frames.as_results); returns qid, docno, score.

    MonoT5's score is the log-probability of relevance, a cross-encoder's is its logit, before any sigmoid that would
    make ties. Neither depends on what else is in the batch.
    """
    import torch

    for key in ("model", "tokenizer"):
        if key in definition:
            check_cached(definition[key], None, f"reranker's {key} {definition[key]!r}")
    torch.set_num_threads(threads)
    score = {"monot5": _monot5, "cross_encoder": _cross_encoder}[definition["reranker"]]
    return as_run(score(top, definition))


def _monot5(top: pd.DataFrame, definition: Mapping[str, Any]) -> pd.DataFrame:
    from pyterrier_t5 import MonoT5ReRanker

    model = model_path(definition["model"])
    tokenizer = model_path(definition["tokenizer"]) if "tokenizer" in definition else model
    reranker = MonoT5ReRanker(tok_model=tokenizer, model=model, batch_size=definition["batch_size"], verbose=False)
    # The reranker pads to the longest of a batch and then cuts at the window. Padding on the left and truncating each
    # text by itself, before the padding, leaves a batch's other texts without a say in what the model sees.
    reranker.tokenizer.padding_side = "left"
    window = reranker.model.config.n_positions - len(reranker.tokenizer("Relevant:")["input_ids"])
    # One more than the window: the reranker takes the end-of-sequence token off again.
    reranker.tokenizer = functools.partial(reranker.tokenizer, truncation=True, max_length=window + 1)
    return reranker(top)


def _cross_encoder(top: pd.DataFrame, definition: Mapping[str, Any]) -> pd.DataFrame:
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(model_path(definition["model"]))
    if model.num_labels != 1:
        raise InputError(f"model {definition['model']!r}", f"{model.num_labels} outputs", "a cross-encoder with one")
    pairs = list(zip(top["query"], top["text"], strict=True))
    scores = model.predict(
        pairs,
        batch_size=definition["batch_size"],
        activation_fn=torch.nn.Identity(),
        show_progress_bar=False,
    )
    return top.assign(score=scores)
