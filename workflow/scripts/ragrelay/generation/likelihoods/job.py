"""Compute missing likelihoods and add them to the store."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import GENERATOR_KINDS, EngineInJob, Method
from ragrelay.generation.job import count_makers, expect_model, keep, start_checked
from ragrelay.generation.likelihoods.continuations import with_continuation
from ragrelay.generation.likelihoods.endpoint_scoring import word_probabilities, word_requests
from ragrelay.generation.likelihoods.scoring import REQUEST, Scoring, log_probabilities, scorings
from ragrelay.generation.likelihoods.store import KEY, LikelihoodStore
from ragrelay.generation.requests import window_of
from ragrelay.generation.token_progress import PromptProgress
from ragrelay.generation.tokens import PromptTokenizer

log = logging.getLogger(__name__)

TOTALS = ("tokens", *REQUEST)
STEP_TOKENS = 4096
"""Default number of tokens per engine step; with more, a long prompt's logits would fill the GPU's memory."""


def fill_likelihoods(
    asked: pl.DataFrame,
    store: LikelihoodStore,
    generator: GeneratorEntry,
    start_engine: Callable[[GeneratorEntry, int | None], EngineInJob],
) -> dict[str, Any]:
    """Compute the likelihoods of ``asked`` (prompt_id, prompt, system, token_ids) that aren't in ``store`` yet.

    ``token_ids`` is a continuation of the prompt; a prompt may have several continuations, in separate rows. For an
    endpoint, the columns spellings, begins and continuation replace ``token_ids``. ``start_engine(generator, window)``
    is called only if a likelihood is missing and all prompts fit the window. The function must return a new engine, or
    a running engine with the same definition. Returns the receipt: asked, cached, made, tokens (scored), requests,
    prompt_tokens, cached_tokens, seconds, engine, and counts by engine (see count_makers). Raises RequestError if a
    prompt and its continuation exceed the window.
    """
    began = time.monotonic()
    keyed, missing = missing_of(asked, store)
    number = len(keyed) - len(missing)
    receipt: dict[str, Any] = {"asked": len(keyed), "cached": number, "made": 0, "fingerprint": store.folder.name}
    log.info("%d likelihoods needed, %d cached, %d to compute", len(keyed), number, len(missing))
    if len(missing):
        check_writable(f"{len(missing)} of {len(keyed)} likelihoods are not in", store.folder)
        window = window_of(generator)
        requests, method, tokens = _requests_for(missing, generator, window)
        progress = PromptProgress(len(missing), tokens, len(requests), store)
        log.info(progress.expected())
        # An endpoint ignores this key.
        engine = start_checked(start_engine, {"max_num_batched_tokens": STEP_TOKENS, **generator}, window)
        expect_model(engine, store)
        ready = time.monotonic()
        rows, flush_seconds = engine.run(method, iter(requests)), generator["flush_seconds"]
        unit = progress.unit
        receipt |= keep(rows, len(missing), store, engine, TOTALS, unit, flush_seconds, ready - began, progress)
        receipt |= {"engine": engine.name, "version": engine.version, "device": engine.device, "window": window}
    receipt |= count_makers(store, keyed)
    receipt["seconds"] = round(time.monotonic() - began, 2)
    return receipt


def _requests_for(
    missing: pl.DataFrame, generator: GeneratorEntry, window: int | None
) -> tuple[Sequence[object], Method, int]:
    """Return the requests for ``missing`` (see fill_likelihoods), the method that answers them, and their tokens."""
    if GENERATOR_KINDS[generator["engine"]].in_job:
        scorings = list(scorings_of(missing, generator, window or 0))
        return scorings, log_probabilities, sum(len(request.given) for request in scorings)
    words = word_requests(missing, generator, window)
    return words, word_probabilities, sum(request.tokens for request in words)


def look_up(asked: pl.DataFrame, store: LikelihoodStore) -> pl.DataFrame:
    """Add the columns continuation, tokens and logprob to ``asked``; raise InputError if a likelihood is missing."""
    keyed = with_continuation(asked)
    looked_up = keyed.join(store.look_up(keyed.select(KEY)), on=KEY, how="left", maintain_order="left")
    if lacking := looked_up["logprob"].null_count():
        expected = "all likelihoods; rerun the rule that computes them with --forceall"
        raise InputError(store.folder, f"no likelihoods for {lacking} of {len(looked_up)} continuations", expected)
    return looked_up


def missing_of(asked: pl.DataFrame, store: LikelihoodStore) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return distinct rows of ``asked`` (prompt_id, prompt, system, token_ids), and the rows missing from ``store``.

    Both tables have an additional column ``continuation`` and are in the order of ``asked``.
    """
    keyed = with_continuation(asked).unique(KEY, keep="first", maintain_order=True)
    return keyed, keyed.join(store.held(keyed), on=KEY, how="anti", maintain_order="left")


def scorings_of(missing: pl.DataFrame, generator: GeneratorEntry, window: int) -> Iterator[Scoring]:
    """Build the requests for ``missing`` (prompt_id, prompt, system, token_ids), sorted by text.

    Sorting puts prompts with a common prefix next to each other, so that the engine can reuse the cached prefix. Raises
    RequestError if a prompt and its continuation exceed the window.
    """
    tokenizer = PromptTokenizer(generator)
    rows = (
        missing.sort("system", "prompt", maintain_order=True)
        .group_by("prompt_id", maintain_order=True)
        .agg(pl.col("prompt", "system").first(), pl.col("token_ids"))
    )
    for prompt_id, prompt, system, continuations in rows.select(
        "prompt_id", "prompt", "system", "token_ids"
    ).iter_rows():
        for request in scorings(prompt_id, tokenizer(prompt, system), continuations):
            # Leave room for one sampled token, which vLLM requires.
            if len(request.given) >= window:
                expected = f"fewer than the window's {window}"
                raise RequestError(f"prompt {prompt[:60]!r}…", f"{len(request.given)} tokens", expected)
            yield request
