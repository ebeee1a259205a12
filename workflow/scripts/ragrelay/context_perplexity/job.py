"""The job that scores a retriever's contexts, and the table that is made of its scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.context_perplexity.requests import PLACE, context_requests
from ragrelay.likelihoods.continuations import raw
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods
from ragrelay.likelihoods.store import KEY, LikelihoodStore
from ragrelay.vocabulary.columns import real, schema_of, whole

COLUMNS = {
    **PLACE,
    "tokens": whole("tokens of the text that were scored", "tokens"),
    "logprob": real("log-probability of the text after the query", "nats"),
}
SCHEMA = schema_of(COLUMNS)


def score_contexts(
    queries: str | Path,
    contexts: str | Path,
    ks: Sequence[int],
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Fill the store with the likelihoods of one retriever's contexts; returns what was asked, and a receipt.

    What was asked: a row per text with qid, rank, k, prompt_id and continuation. ``fingerprint``: of the
    generator without its chat, for likelihoods.
    """
    texts = raw(generator)
    asked = context_requests(pl.read_parquet(queries), pl.read_parquet(contexts), ks, texts)
    store = LikelihoodStore(cache_dir, fingerprint)
    receipt = fill_likelihoods(asked, store, texts, one_engine(texts, fingerprint, cache_dir, threads))
    return asked.select(*PLACE, *KEY), receipt


def compute_context_likelihoods(asked: str | Path, fingerprint: str, cache_dir: str | Path) -> pl.DataFrame:
    """The table (SCHEMA) of what was ``asked`` for, by the store of ``fingerprint``."""
    rows = pl.read_parquet(asked)
    held = LikelihoodStore(cache_dir, fingerprint).look_up(rows.select(KEY).unique())
    return rows.join(held, on=KEY, how="left", maintain_order="left").select(
        pl.col(n).cast(t) for n, t in SCHEMA.items()
    )
