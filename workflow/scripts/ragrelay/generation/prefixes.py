"""Count prompt tokens before any engine starts, and estimate how many the prefix cache will serve."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl

from ragrelay.generation.requests import requests_of
from ragrelay.prompting.truncation import Layout

SCHEMA = {"prompt_id": pl.String, "prompt_tokens": pl.Int64, "shared_first": pl.Int64, "shared_again": pl.Int64}
# Tokens per block of the cache, of which only whole ones are served: vLLM's own on a GPU, its least on CPU, where its
# own choice of 128 serves fewer prompt tokens (benchmarks/prefix_cache.py) and gives the same answers.
BLOCK_TOKENS = {"cpu": 32}
GPU_BLOCK_TOKENS = 16
# Used for a served model without a local tokenizer: about right for English text.
CHARACTERS_PER_TOKEN = 4


def prompt_lengths(
    missing: pl.DataFrame, generator: Mapping[str, Any], window: int | None, layout: Layout, block: int, threads: int
) -> pl.DataFrame:
    """A row per distinct prompt of ``missing`` (as for ``requests_of``, which raises InputError), in its order.

    Columns: prompt_id, prompt_tokens (what the engine gets; estimated where no tokenizer is known), and estimates of
    those that its prefix cache serves: shared_first for the prompt's first request, the longest prefix it has in common
    with the prompt before it in whole blocks of ``block`` tokens; shared_again for its other seeds.
    """
    distinct = missing.unique("prompt_id", keep="first", maintain_order=True)
    step = max(1, -(-len(distinct) // threads))
    # One prompt ahead of the threads: transformers imports its parts at first use, which two threads can't do at once.
    _lengths(distinct.head(1), generator, window, layout, block)
    # Threads suffice, since tokenizers release Python's lock. Each thread has its own tokenizer.
    with ThreadPoolExecutor(threads) as pool:
        slices = [distinct.slice(start, step) for start in range(0, len(distinct), step)]
        jobs = [pool.submit(_lengths, part, generator, window, layout, block) for part in slices]
        return pl.concat([pl.DataFrame(schema=SCHEMA), *(job.result() for job in jobs)])


def block_tokens(generator: Mapping[str, Any], device: str | None) -> int:
    """Tokens per block of the prefix cache, by the key ``block_size`` or else that of ``device`` (None: a GPU)."""
    return generator.get("block_size", BLOCK_TOKENS.get(device or "", GPU_BLOCK_TOKENS))


def _lengths(
    distinct: pl.DataFrame, generator: Mapping[str, Any], window: int | None, layout: Layout, block: int
) -> pl.DataFrame:
    return pl.DataFrame(list(_rows(distinct, generator, window, layout, block)), schema=SCHEMA, orient="row")


def _rows(
    distinct: pl.DataFrame, generator: Mapping[str, Any], window: int | None, layout: Layout, block: int
) -> Iterator[tuple[str, int, int, int]]:
    before: Sequence[int] = ()
    for request in requests_of(distinct, generator, window, layout):
        ids = request.token_ids
        tokens = len(ids) or len(request.system + request.prompt) // CHARACTERS_PER_TOKEN
        # The last token is always computed, since it yields the answer's first token.
        whole = max(0, len(ids) - 1) // block * block if generator["prefix_caching"] else 0
        yield request.prompt_id, tokens, min(whole, shared_prefix(before, ids, block)), whole
        before = ids


def shared_prefix(one: Sequence[int], other: Sequence[int], block: int) -> int:
    """Tokens of the longest common prefix of two token sequences in whole blocks."""
    end = 0
    while len(one) >= end + block <= len(other) and one[end : end + block] == other[end : end + block]:
        end += block
    return end
