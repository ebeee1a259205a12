"""Make and count the requests of a generation job: distinct keys in prefix order, in shards, as token ids."""

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.errors import InputError, RequestError
from ragrelay.generation.generator import GENERATOR_KINDS, Request
from ragrelay.generation.thought_marks import check_tokenizer_marks
from ragrelay.generation.tokens import PromptTokenizer, special_tokens, unloadable
from ragrelay.models.hubs import check_cached
from ragrelay.models.locations import model_path
from ragrelay.prompting.layout import Layout

LENGTHS = {"prompt_id": pl.String, "prompt_tokens": pl.Int64, "shared_first": pl.Int64, "shared_again": pl.Int64}
# Tokens per block of the prefix cache, which serves only whole blocks: vLLM's own choice on a GPU; on CPU its minimum,
# since its own choice, 128, serves fewer prompt tokens (benchmarks/prefix_cache.py) and gives the same answers.
BLOCK_TOKENS = {"cpu": 32}
GPU_BLOCK_TOKENS = 16
# Used for a served model without a local tokenizer: about right for English text.
CHARACTERS_PER_TOKEN = 4


def asked_keys(prompts: Sequence[Path], seeds: Sequence[int], shard: int, shards: int) -> pl.DataFrame:
    """Return the distinct (prompt_id, seed) of prompt files in prefix order, with qid, docnos, prompt and system.

    Prefix order is query, then the order of ``prompts`` (increasing k within an ordering), then seed, so that the
    engine's prefix cache serves the shared instruction, nested contexts and seeds. Each query, from the longest down,
    is assigned as a whole to the shard with the least prompt text so far. All shards compute the same assignment.
    """
    frames = [pl.read_parquet(path).with_columns(file=pl.lit(i)) for i, path in enumerate(prompts)]
    rows = pl.concat(frames)
    order = rows.select("qid").unique(maintain_order=True).with_row_index("place")
    # Deduplicate before splitting: a prompt that two queries share belongs to the first query's shard.
    distinct = rows.join(order, on="qid").sort("place", "file").unique("prompt_id", keep="first", maintain_order=True)
    lengths = distinct.group_by("qid").agg(size=pl.col("prompt").str.len_bytes().sum())
    mine = [qid for qid, owner in _assignment(lengths, shards).items() if owner == shard]
    keys = distinct.filter(pl.col("qid").is_in(mine)).select("prompt_id", "qid", "docnos", "prompt", "system")
    of_seeds = pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64})
    return keys.join(of_seeds, how="cross", maintain_order="left_right")


def _assignment(lengths: pl.DataFrame, shards: int) -> dict[str, int]:
    loads, owner = [0] * shards, {}
    for qid, size in lengths.sort(["size", "qid"], descending=[True, False]).iter_rows():
        lightest = loads.index(min(loads))
        owner[qid] = lightest
        loads[lightest] += size
    return owner


def requests_of(
    missing: pl.DataFrame, generator: Mapping[str, Any], window: int | None, layout: Layout
) -> Iterator[Request]:
    """Return requests for ``missing`` (rows of asked_keys): token ids, or texts for an endpoint without a tokenizer."""
    if not GENERATOR_KINDS[generator["engine"]].in_job and "tokenizer" not in generator:
        columns = missing.select("prompt_id", "seed", "prompt", "system")
        return (Request(key, seed, (), 0, prompt, system) for key, seed, prompt, system in columns.iter_rows())
    return tokenised(missing, generator, window, layout)


def tokenised(
    missing: pl.DataFrame, generator: Mapping[str, Any], window: int | None, layout: Layout | None
) -> Iterator[Request]:
    """Yield requests for ``missing`` (rows of asked_keys), tokenising each prompt once.

    A prompt must leave room for ``max_tokens`` within ``window`` (None: unknown, unchecked). A longer one raises
    InputError, or (``over_window: truncate``) ``layout`` lays it out again with fewer passages; without a ``layout`` it
    is left out. Also raises InputError if the tokenizer has marks of thought and the generator lacks ``thinking``.
    """
    tokenizer = PromptTokenizer(generator)
    if "structured" not in generator:
        check_tokenizer_marks(generator, tokenizer.tokenizer, special_tokens(tokenizer.tokenizer))
    room = math.inf if window is None else window - generator["max_tokens"]
    current, dropped = "", 0
    ids: tuple[int, ...] = ()
    columns = ("prompt_id", "seed", "qid", "docnos", "prompt", "system")
    for prompt_id, seed, qid, docnos, prompt, system in missing.select(columns).iter_rows():
        if prompt_id != current:
            truncates = generator["over_window"] == "truncate"
            shorter = layout.shortened(qid, docnos) if layout and truncates else iter(())
            current, ids, dropped = prompt_id, tokenizer(prompt, system), 0
            full = len(ids)
            while layout and len(ids) > room:
                dropped, prompt = next(shorter, (0, ""))
                if not dropped:
                    place = f"prompt of qid {qid!r} with {len(docnos)} passages"
                    # Prompts for lists of nuggets, which have a fixed form, are never truncated.
                    other = "fewer passages at a time" if "structured" in generator else "over_window: truncate"
                    expected = f"at most {room} (window {window} less max_tokens), or {other}"
                    raise RequestError(place, f"{full} tokens", expected)
                ids = tokenizer(prompt, system)
        if len(ids) <= room:
            yield Request(prompt_id, seed, ids, dropped, begun=tokenizer.begun(prompt, system))


def window_of(generator: Mapping[str, Any]) -> int | None:
    """Return the generator's window in tokens: ``max_model_len``, or what the model's configuration says.

    None for an endpoint without ``max_model_len``, which checks by itself.
    """
    if "max_model_len" in generator:
        return int(generator["max_model_len"])
    if not GENERATOR_KINDS[generator["engine"]].in_job:
        return None
    check_cached(generator["model"], generator.get("revision"), f"generator model {generator['model']!r}")
    from huggingface_hub.errors import StrictDataclassError
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(
            model_path(generator["model"]),
            revision=generator.get("revision"),
            trust_remote_code=generator["trust_remote_code"],
        )
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StrictDataclassError,
    ) as error:  # fmt: skip
        raise unloadable(f"generator model {generator['model']!r}", error, "a model that transformers knows") from error
    window = getattr(config.get_text_config(), "max_position_embeddings", None)
    if window is None:
        raise InputError(
            f"model {generator['model']}", "no window in its configuration", "max_model_len in the generator's entry"
        )
    return int(window)


def prompt_lengths(
    missing: pl.DataFrame, generator: Mapping[str, Any], window: int | None, layout: Layout, block: int, threads: int
) -> pl.DataFrame:
    """Return a row per distinct prompt of ``missing`` (see ``requests_of``, which raises InputError), in its order.

    Columns: prompt_id, prompt_tokens (estimated if no tokenizer is known), and estimates of the tokens that the prefix
    cache serves: shared_first for the prompt's first request, which shares whole blocks of ``block`` tokens with the
    prompt before it; shared_again for its other seeds.
    """
    distinct = missing.unique("prompt_id", keep="first", maintain_order=True)
    step = max(1, -(-len(distinct) // threads))
    # Tokenise one prompt first: transformers imports modules at first use, which two threads can't do at once.
    _lengths(distinct.head(1), generator, window, layout, block)
    # Threads suffice, since tokenizers release Python's lock. Each thread has its own tokenizer.
    with ThreadPoolExecutor(threads) as pool:
        slices = [distinct.slice(start, step) for start in range(0, len(distinct), step)]
        jobs = [pool.submit(_lengths, part, generator, window, layout, block) for part in slices]
        return pl.concat([pl.DataFrame(schema=LENGTHS), *(job.result() for job in jobs)])


def block_tokens(generator: Mapping[str, Any], device: str | None) -> int:
    """Return the prefix cache's tokens per block: key ``block_size``, or the default for ``device`` (None: a GPU)."""
    return generator.get("block_size", BLOCK_TOKENS.get(device or "", GPU_BLOCK_TOKENS))


def _lengths(
    distinct: pl.DataFrame, generator: Mapping[str, Any], window: int | None, layout: Layout, block: int
) -> pl.DataFrame:
    return pl.DataFrame(list(_rows(distinct, generator, window, layout, block)), schema=LENGTHS, orient="row")


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
    """Return the tokens in the longest common prefix of two token sequences, in whole blocks."""
    end = 0
    while len(one) >= end + block <= len(other) and one[end : end + block] == other[end : end + block]:
        end += block
    return end
