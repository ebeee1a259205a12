"""What a generation job asks for: distinct keys in prefix order, split into shards, as token ids within the window."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.config.models import model_path
from ragrelay.errors import InputError
from ragrelay.generation.layout import Layout


@dataclass(frozen=True)
class Request:
    """One answer to be made: ``token_ids`` is the prompt as the engine gets it."""

    prompt_id: str
    seed: int
    token_ids: tuple[int, ...]
    dropped_passages: int = 0


def asked_keys(prompts: Sequence[Path], seeds: Sequence[int], shard: int, shards: int) -> pl.DataFrame:
    """Distinct (prompt_id, seed) of prompt files in prefix order, with qid, docnos and prompt.

    Prefix order is query, then the order of ``prompts`` (k growing within an ordering), then seed, so that the engine's
    prefix cache serves the shared instruction, nested contexts and seeds. Queries go whole to the shard with the least
    prompt text so far, longest first: every shard sees the same assignment, whatever runs when.
    """
    frames = [pl.read_parquet(path).with_columns(file=pl.lit(i)) for i, path in enumerate(prompts)]
    rows = pl.concat(frames)
    order = rows.select("qid").unique(maintain_order=True).with_row_index("place")
    # Distinct before it is shared out: a prompt that two queries have in common belongs to the first one's shard.
    distinct = rows.join(order, on="qid").sort("place", "file").unique("prompt_id", keep="first", maintain_order=True)
    lengths = distinct.group_by("qid").agg(size=pl.col("prompt").str.len_bytes().sum())
    mine = [qid for qid, owner in _assignment(lengths, shards).items() if owner == shard]
    keys = distinct.filter(pl.col("qid").is_in(mine)).select("prompt_id", "qid", "docnos", "prompt")
    of_seeds = pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64})
    return keys.join(of_seeds, how="cross", maintain_order="left_right")


def _assignment(lengths: pl.DataFrame, shards: int) -> dict[str, int]:
    loads, owner = [0] * shards, {}
    for qid, size in lengths.sort(["size", "qid"], descending=[True, False]).iter_rows():
        lightest = loads.index(min(loads))
        owner[qid] = lightest
        loads[lightest] += size
    return owner


def tokenised(missing: pl.DataFrame, generator: Mapping[str, Any], window: int, layout: Layout) -> Iterator[Request]:
    """Requests for ``missing`` (prompt_id, seed, qid, docnos, prompt); the generator's tokenizer sees each prompt once.

    A prompt must leave room for ``max_tokens`` within ``window``. A longer one raises InputError, or (``over_window:
    truncate``) is laid out again with fewer passages by ``layout``.
    """
    tokenizer = load_tokenizer(generator)
    room = window - generator["max_tokens"]
    current, ids, dropped = "", (), 0
    for prompt_id, seed, qid, docnos, prompt in missing.select(
        "prompt_id", "seed", "qid", "docnos", "prompt"
    ).iter_rows():
        if prompt_id != current:
            shorter = layout.shortened(qid, docnos) if generator["over_window"] == "truncate" else iter(())
            current, ids, dropped = prompt_id, tuple(tokenizer(prompt)["input_ids"]), 0
            full = len(ids)
            while len(ids) > room:
                dropped, prompt = next(shorter, (0, ""))
                if not dropped:
                    place = f"prompt of qid {qid!r} with {len(docnos)} passages"
                    expected = f"at most {room} (window {window} less max_tokens), or over_window: truncate"
                    raise InputError(place, f"{full} tokens", expected)
                ids = tuple(tokenizer(prompt)["input_ids"])
        yield Request(prompt_id, seed, ids, dropped)


def load_tokenizer(generator: Mapping[str, Any]) -> Any:
    """The generator's own tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(
        model_path(generator["model"]),
        revision=generator.get("revision"),
        trust_remote_code=generator["trust_remote_code"],
    )


def window_of(generator: Mapping[str, Any]) -> int:
    """The generator's window in tokens: ``max_model_len``, or what the model's configuration says."""
    if "max_model_len" in generator:
        return int(generator["max_model_len"])
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(
        model_path(generator["model"]),
        revision=generator.get("revision"),
        trust_remote_code=generator["trust_remote_code"],
    )
    window = getattr(config.get_text_config(), "max_position_embeddings", None)
    if window is None:
        raise InputError(
            f"model {generator['model']}", "no window in its configuration", "max_model_len in the generator's entry"
        )
    return int(window)
