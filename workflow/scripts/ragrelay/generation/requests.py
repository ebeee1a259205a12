"""Build a generation job's requests: collect the keys, divide them into shards, and tokenise the prompts."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.models.gguf_conversion import model_source
from ragrelay.base.models.hubs import check_cached
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import GENERATOR_KINDS, Request
from ragrelay.generation.thought_marks import (
    begun_mark,
    check_tokenizer_marks,
    least_budget,
    thought_budget,
    thought_marks,
)
from ragrelay.generation.tokens import PromptTokenizer, unloadable
from ragrelay.prompting.layout import Layout

LENGTHS = {"prompt_id": pl.String, "prompt_tokens": pl.Int64, "shared_first": pl.Int64, "shared_again": pl.Int64}
# Tokens per block of the prefix cache, which serves only complete blocks: vLLM's default on a GPU; on CPU its minimum,
# because its default, 128, serves fewer prompt tokens (benchmarks/prefix_cache.py) and gives the same answers.
BLOCK_TOKENS = {"cpu": 32}
GPU_BLOCK_TOKENS = 16
# Used for a served model without a tokenizer; about right for English text.
CHARACTERS_PER_TOKEN = 4
KEYS = {"qid": pl.String, "prompt_id": pl.String, "size": pl.Int64}
TEXT_BYTES = 64 << 20
"""Bytes of prompts to hold in memory at a time."""
TRUNCATE = "truncate"
"""The value of ``over_window`` that lets ragrelay shorten prompts that exceed the window instead of failing."""
SPARE_TOKENS = 64
"""Allowance for tokens in addition to text and chat template: a system message's marks, a leading space."""


def sharded_keys(prompts: Mapping[str, Sequence[Path]], seeds: Sequence[int], shards: int) -> pl.DataFrame:
    """Collect the distinct keys (prompt_id, seed) in all prompt files, in processing order, and assign them to shards.

    ``prompts``: each retriever's prompt files. Each prompt is combined with each of ``seeds`` or, if the files have a
    column ``seed``, only with the seed in that column. Further columns: qid, retriever and path (of the first file that
    contains the prompt), size (the prompt's bytes), shard. Texts stay in the files until with_texts reads them, because
    a large study's texts would fill a node's memory.

    Queries are ordered by a hash of their qid, so that the queries finished so far are always a random sample, with
    answers for every retriever. A query's prompts are ordered by file (increasing k within an ordering), then by seed,
    so that the prefix cache can reuse instructions, smaller contexts and repeated prompts. All of a query's
    prompts go to the same shard. Queries with the most text are assigned first, each to the shard with the least text
    so far. All shards compute the same assignment.
    """
    files = [(retriever, str(path)) for retriever, paths in prompts.items() for path in paths]
    names, paths = pl.Enum(list(prompts)), pl.Enum(list(dict.fromkeys(path for _, path in files)))
    size = pl.col("prompt").str.len_bytes().cast(pl.Int64) + pl.col("system").str.len_bytes()
    seeded = bool(files) and all("seed" in pl.read_parquet_schema(path) for _, path in files)
    own = {"seed": pl.Int64} if seeded else {}
    frames = [
        pl.scan_parquet(path, glob=False)
        .select(
            "qid", "prompt_id", size.alias("size"), *own, retriever=pl.lit(retriever, names), path=pl.lit(path, paths)
        )
        .collect()
        for retriever, path in files
    ]
    rows = pl.concat([pl.DataFrame(schema={**KEYS, **own, "retriever": names, "path": paths}), *frames])
    qids = sorted(rows["qid"].unique(), key=lambda qid: (text_hash(f"order of work: {qid}"), qid))
    place = pl.DataFrame({"qid": qids}, schema={"qid": pl.String}).with_row_index("place")
    # Deduplicate before sharding: a prompt that two queries share belongs to the first query's shard.
    distinct = (
        rows.join(place, on="qid", maintain_order="left")
        .sort("place", maintain_order=True)
        .unique(["prompt_id", *own], keep="first", maintain_order=True)
    )
    owners = _assignment(distinct.group_by("qid").agg(pl.col("size").sum()), shards)
    keys = distinct.join(owners, on="qid", maintain_order="left").drop("place")
    if own:
        return keys.select(pl.exclude("seed"), "seed")
    of_seeds = pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64})
    return keys.join(of_seeds, how="cross", maintain_order="left_right")


def asked_keys(
    prompts: Mapping[str, Sequence[Path]], seeds: Sequence[int], shard: int = 0, shards: int = 1
) -> pl.DataFrame:
    """Return the keys (rows from sharded_keys) that belong to ``shard``."""
    return sharded_keys(prompts, seeds, shards).filter(shard=shard).drop("shard")


def _assignment(sizes: pl.DataFrame, shards: int) -> pl.DataFrame:
    loads, owners = [0] * shards, []
    for qid, size in sizes.sort(["size", "qid"], descending=[True, False]).iter_rows():
        lightest = loads.index(min(loads))
        owners.append((qid, lightest))
        loads[lightest] += size
    return pl.DataFrame(owners, schema={"qid": pl.String, "shard": pl.Int64}, orient="row")


def with_texts(keys: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Read docnos, prompt and system from the prompt files, add them to ``keys``, and yield the rows in batches.

    A batch contains complete queries, with about TEXT_BYTES of text. If ``keys`` has prompts, it is yielded unchanged.
    """
    if "prompt" in keys.columns:
        yield keys
        return
    distinct = keys.unique("prompt_id", keep="first", maintain_order=True)
    before = pl.col("size").cum_sum() - pl.col("size")
    parts = distinct.select("qid", part=before // TEXT_BYTES).unique("qid", keep="first", maintain_order=True)
    of_parts = keys.join(parts, on="qid", maintain_order="left").partition_by("part", maintain_order=True)
    for part in of_parts:
        texts = [
            pl.scan_parquet(path, glob=False)
            .filter(pl.col("prompt_id").is_in(of_file["prompt_id"].unique().implode()))
            .select("prompt_id", "docnos", "prompt", "system")
            .collect()
            for (path,), of_file in part.partition_by("path", as_dict=True).items()
        ]
        distinct_texts = pl.concat(texts).unique("prompt_id")
        yield part.drop("part").join(distinct_texts, on="prompt_id", maintain_order="left")


def longest_first(keys: pl.DataFrame) -> pl.DataFrame:
    """Move the row with the longest prompt to the front of ``keys`` (rows from sharded_keys)."""
    place = int(keys["size"].arg_max() or 0)
    return pl.concat([keys[place : place + 1], keys[:place], keys[place + 1 :]])


def requests_of(
    missing: pl.DataFrame, generator: GeneratorEntry, window: int | None, layout: Layout
) -> Iterator[Request]:
    """Build requests for ``missing`` (rows from sharded_keys); endpoints without a tokenizer receive plain text."""
    for part in with_texts(missing):
        if sends_texts(generator):
            marks = None if generator.get("chat") else thought_marks(generator)
            for key, seed, prompt, system in part.select("prompt_id", "seed", "prompt", "system").iter_rows():
                begun = begun_mark(prompt.rstrip()[-len(marks[0]) :], marks) if marks else ""
                yield Request(key, seed, (), 0, prompt, system, begun)
        else:
            yield from tokenised(part, generator, window, layout)


def sends_texts(generator: GeneratorEntry) -> bool:
    """Return whether prompts are sent as text, as is the case for an endpoint without a tokenizer."""
    return not GENERATOR_KINDS[generator["engine"]].in_job and "tokenizer" not in generator


def over_window(
    missing: pl.DataFrame, generator: GeneratorEntry, window: int | None, layout: Layout
) -> dict[str, InputError]:
    """Find the prompts in ``missing`` that exceed the window, and return an error for each, keyed by prompt_id.

    Raises InputError if the tokenizer can't be loaded, or if it has thought marks but ``thinking`` isn't set.
    """
    if sends_texts(generator):
        return {}
    tokenizer, refused = PromptTokenizer(generator), dict[str, InputError]()
    check_marks(generator, tokenizer)
    if window is not None:
        # Tokenise only long prompts, since no token is shorter than a byte. Room includes the chat template's tokens.
        room = window - longest_reply(generator) - len(tokenizer("x")) - SPARE_TOKENS
        long = missing.filter(pl.col("size") > room).unique("prompt_id", keep="first", maintain_order=True)
        for part in with_texts(long):
            deque(tokenised(part, generator, window, layout, refused), maxlen=0)
    return refused


def check_marks(generator: GeneratorEntry, tokenizer: PromptTokenizer) -> None:
    """Raise InputError if the tokenizer has thought marks but the generator's key ``thinking`` isn't set."""
    if "structured" not in generator:
        check_tokenizer_marks(generator, tokenizer.tokenizer)


def longest_reply(generator: GeneratorEntry) -> int:
    """Return the number of tokens to leave free in the window: ``max_tokens`` plus the tokens for a thought."""
    return int(generator["max_tokens"]) + least_budget(generator)


def tokenised(
    missing: pl.DataFrame,
    generator: GeneratorEntry,
    window: int | None,
    layout: Layout,
    refused: dict[str, InputError] | None = None,
) -> Iterator[Request]:
    """Build requests for ``missing`` (rows from with_texts), tokenising each prompt only once.

    Each prompt must leave room for the longest reply within ``window``, unless ``window`` is None. With ``over_window:
    truncate``, ``layout`` shortens longer prompts. A prompt that is still too long raises InputError; with ``refused``,
    it is left out instead, and the error is added to ``refused`` (keyed by prompt_id). See also check_marks.
    """
    tokenizer = PromptTokenizer(generator)
    check_marks(generator, tokenizer)
    room = math.inf if window is None else window - longest_reply(generator)
    most = thought_budget(generator)
    less = "max_tokens and thinking.budget" if most else "max_tokens"
    truncates = generator["over_window"] == TRUNCATE
    current, dropped = "", 0
    ids: tuple[int, ...] = ()
    retriever_of = pl.col("retriever") if "retriever" in missing.columns else pl.lit("")
    rows = missing.select("prompt_id", "seed", "qid", retriever_of, "docnos", "prompt", "system").iter_rows()
    for prompt_id, seed, qid, retriever, docnos, prompt, system in rows:
        if prompt_id != current:
            shorter = layout.shortened(retriever, qid, docnos, prompt) if truncates else iter(())
            current, ids, dropped = prompt_id, tokenizer(prompt, system), 0
            full = len(ids)
            while len(ids) > room:
                dropped, prompt = next(shorter, (0, ""))
                if not dropped:
                    place = f"prompt for qid {qid!r} with {len(docnos)} passage{'s'[: len(docnos) != 1]}"
                    # Prompts for nugget lists have a fixed form and are never truncated.
                    other = "fewer passages at a time" if "structured" in generator else "over_window: truncate"
                    expected = f"at most {max(0, room)} (window {window} minus {less}), or {other}"
                    error = RequestError(place, f"{full} tokens", expected)
                    if refused is None:
                        raise error
                    refused[prompt_id] = error
                    break
                ids = tokenizer(prompt, system)
        if len(ids) <= room:
            budget = int(min(most, least_budget(generator) + room - len(ids)))
            yield Request(prompt_id, seed, ids, dropped, begun=tokenizer.begun(prompt, system), budget=budget)


def window_of(generator: GeneratorEntry) -> int | None:
    """Return the generator's window in tokens, from ``max_model_len`` or the model's configuration.

    Returns None for an endpoint without ``max_model_len``; the endpoint then checks prompt lengths itself.
    """
    if "max_model_len" in generator:
        return int(generator["max_model_len"])
    if not GENERATOR_KINDS[generator["engine"]].in_job:
        return None
    source, revision = model_source(generator)
    check_cached(source, revision, f"generator model {generator['model']!r}")
    from huggingface_hub.errors import StrictDataclassError
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(
            source,
            revision=revision,
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
    missing: pl.DataFrame, generator: GeneratorEntry, window: int | None, layout: Layout, block: int, threads: int
) -> pl.DataFrame:
    """Count the tokens in each distinct prompt of ``missing``, and estimate how many the prefix cache will supply.

    Columns: prompt_id, prompt_tokens (estimated if there is no tokenizer), shared_first (tokens that the prompt's first
    request shares with the previous prompt, in complete blocks of ``block`` tokens), shared_again (tokens that later
    requests, with other seeds, share with the first). Raises InputError for a prompt that exceeds ``window``.
    """
    distinct = missing.unique("prompt_id", keep="first", maintain_order=True)
    step = max(1, -(-len(distinct) // threads))
    # Tokenise one prompt first: transformers imports modules on first use, which two threads can't do at once.
    _lengths(distinct.head(1), generator, window, layout, block)
    # Threads are enough, because tokenizers release Python's lock. Each thread has its own tokenizer.
    with ThreadPoolExecutor(threads) as pool:
        slices = [distinct.slice(start, step) for start in range(0, len(distinct), step)]
        jobs = [pool.submit(_lengths, part, generator, window, layout, block) for part in slices]
        return pl.concat([pl.DataFrame(schema=LENGTHS), *(job.result() for job in jobs)])


def block_tokens(generator: GeneratorEntry, device: str | None) -> int:
    """Return the prefix cache's block size in tokens, from ``block_size`` or the default for ``device`` (None: GPU)."""
    return generator.get("block_size", BLOCK_TOKENS.get(device or "", GPU_BLOCK_TOKENS))


def _lengths(
    distinct: pl.DataFrame, generator: GeneratorEntry, window: int | None, layout: Layout, block: int
) -> pl.DataFrame:
    return pl.DataFrame(list(_rows(distinct, generator, window, layout, block)), schema=LENGTHS, orient="row")


def _rows(
    distinct: pl.DataFrame, generator: GeneratorEntry, window: int | None, layout: Layout, block: int
) -> Iterator[tuple[str, int, int, int]]:
    before: Sequence[int] = ()
    for request in requests_of(distinct, generator, window, layout):
        ids = request.token_ids
        tokens = len(ids) or len(request.system + request.prompt) // CHARACTERS_PER_TOKEN
        # The last token is always computed, because it yields the answer's first token.
        whole = max(0, len(ids) - 1) // block * block if generator.get("prefix_caching") else 0
        yield request.prompt_id, tokens, min(whole, shared_prefix(before, ids, block)), whole
        before = ids


def shared_prefix(one: Sequence[int], other: Sequence[int], block: int) -> int:
    """Return how many tokens two sequences share at the beginning, rounded down to complete blocks."""
    end = 0
    while len(one) >= end + block <= len(other) and one[end : end + block] == other[end : end + block]:
        end += block
    return end
