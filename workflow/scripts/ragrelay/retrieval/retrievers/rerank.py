"""Rerank another retriever's top results with MonoT5 (Nogueira et al., Findings of EMNLP 2020) or a cross-encoder."""

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.models.hubs import check_cached
from ragrelay.base.models.locations import check_model, check_tokenizer, model_path
from ragrelay.base.settings import Model, Name
from ragrelay.collection.words import SAMPLE, check_known
from ragrelay.retrieval.retriever import Retriever, RunTask

if TYPE_CHECKING:
    import pandas as pd


class Rerank(Retriever):
    """Another retriever's top results, reranked with a model that scores query and passage together."""

    threads = 2

    first_stage: Name = Field(
        description="Name of the retriever whose top results are reranked. The retriever's run is built only once."
    )
    reranker: Literal["monot5", "cross_encoder"] = Field(
        "monot5", description="Type of the model: MonoT5, or a sentence-transformers cross-encoder with one output."
    )
    model: Model = Field(description="The model: a local folder or a hub id.")
    tokenizer: Model | None = Field(
        None, description="MonoT5's tokenizer (a local folder or hub id), if the model comes without one."
    )
    depth: int = Field(100, ge=1, description="Number of passages to rerank per query.")
    batch_size: int = Field(16, ge=1, description="Number of passages to score at once.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that a tokenizer is only set for MonoT5, and that a local model is complete."""
        if self.tokenizer is not None:
            if self.reranker != "monot5":
                raise InputError(f"{place}.tokenizer'", repr(self.tokenizer), "this key only with reranker monot5")
            check_tokenizer(f"{place}.tokenizer'", self.tokenizer, study.folder)
        check_model(place + ".model'", self.model, study.folder, tokenizer=self.tokenizer is None)

    def downloads(self) -> Iterator[Download]:
        """Yield the downloads of the model and, if there is one, of the separate tokenizer."""
        yield Download("model", self.model)
        if self.tokenizer is not None:
            yield Download("tokenizer", self.tokenizer, part="tokenizer")

    def stages(self) -> list[tuple[str, str]]:
        """Return the retriever whose results are reranked."""
        return [("first_stage", self.first_stage)]

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the first stage's passages that have a text, with the reranker's scores.

        MonoT5's score is the log-probability of relevance. A cross-encoder's score is its logit, because a sigmoid
        would create ties. Neither score depends on the other texts in the batch.
        """
        (first,) = task.runs
        texts = task.collection.texts(first["docno"].unique().to_list())
        return self.rescored(task.queries, first, texts, task.threads)

    def rescored(
        self, queries: pl.DataFrame, first: pl.DataFrame, texts: Mapping[str, str], threads: int
    ) -> pl.DataFrame:
        """Score ``first`` (qid, docno, rank, score), skipping passages not in ``texts``; return qid, docno and score.

        Raises InputError if the model's tokenizer doesn't know the words in queries or passages.
        """
        import torch

        from ragrelay.retrieval.frames import as_results, as_run

        for named in self.downloads():
            check_cached(named.name, None, f"reranker's {named.key} {named.name!r}")
        torch.set_num_threads(threads)
        score = self._monot5 if self.reranker == "monot5" else self._cross_encoder
        return as_run(score(as_results(queries, first, texts)))

    def _monot5(self, top: "pd.DataFrame") -> "pd.DataFrame":
        from pyterrier_t5 import MonoT5ReRanker

        model = model_path(self.model)
        tokenizer = model_path(self.tokenizer) if self.tokenizer else model
        reranker = MonoT5ReRanker(tok_model=tokenizer, model=model, batch_size=self.batch_size, verbose=False)
        self._check_words(reranker.tokenizer, top)
        # The reranker pads to the longest text in a batch and then truncates at the window. Padding on the left and
        # truncating each text before padding keeps the other texts in a batch from affecting what the model sees.
        reranker.tokenizer.padding_side = "left"
        window = reranker.model.config.n_positions - len(reranker.tokenizer("Relevant:")["input_ids"])
        # One more than the window, because the reranker then removes the end-of-sequence token.
        reranker.tokenizer = functools.partial(reranker.tokenizer, truncation=True, max_length=window + 1)
        return reranker(top)

    def _cross_encoder(self, top: "pd.DataFrame") -> "pd.DataFrame":
        import torch
        from sentence_transformers import CrossEncoder

        model = CrossEncoder(model_path(self.model))
        if model.num_labels != 1:
            raise InputError(f"model {self.model!r}", f"{model.num_labels} outputs", "a cross-encoder with one output")
        self._check_words(model.tokenizer, top)
        scores = model.predict(
            list(zip(top["query"], top["text"], strict=True)),
            batch_size=self.batch_size,
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
        )
        return top.assign(score=scores)

    def _check_words(self, tokenizer: Any, top: "pd.DataFrame") -> None:
        for what, column in (("queries", "query"), ("passages", "text")):
            check_known(f"reranker's model {self.model!r}", what, top[column].unique()[:SAMPLE], tokenizer)


def rerank_contexts(
    queries: pl.DataFrame, contexts: pl.DataFrame, k: int, definition: Mapping[str, Any], threads: int
) -> pl.DataFrame:
    """Rerank the first ``k`` passages in ``contexts`` (qid, docno, rank, score, text); return qid, docno and score."""
    shown = contexts.filter(pl.col("rank") <= k)
    reranker = Rerank(**{key: value for key, value in definition.items() if key != "kind"})
    return reranker.rescored(queries, shown, dict(shown.select("docno", "text").iter_rows()), threads)
