"""The generator asked whether a passage is relevant: labels from its probabilities of yes and of no."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annotations.judge_source import JudgeSource
from ragrelay.annotations.single_answers import PASSAGE
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods, look_up
from ragrelay.likelihoods.store import LikelihoodStore
from ragrelay.likelihoods.words import first_tokens, spelled, text_ids, token_table, word_shares

ASKED: dict[str, Any] = {
    "qid": pl.String, "docno": pl.String, "prompt_id": pl.String, "prompt": pl.String, "system": pl.String,
    "word": pl.String, "token_ids": pl.List(pl.Int64),
}  # fmt: skip


def asked_words(
    prompts: Sequence[str | Path], tokens: Mapping[str, Sequence[int]], begins: Sequence[int] = ()
) -> pl.DataFrame:
    """Columns ASKED: each passage's question (files of single prompts) with each token that represents a word.

    ``tokens``: token ids by word, as likelihoods.words.first_tokens gives them; ``begins``: token ids that the answer
    has before them.
    """
    columns = ["qid", "docnos", "prompt_id", "prompt", "system"]
    frames = [pl.read_parquet(path, columns=columns, glob=False) for path in prompts]
    passages = pl.concat(frames).with_columns(pl.col("docnos").list.first().alias("docno"))
    distinct = passages.unique(PASSAGE, keep="first", maintain_order=True)
    return distinct.join(token_table(tokens, begins), how="cross", maintain_order="left_right").select(*ASKED)


def judge_passages(
    prompts: Sequence[str | Path],
    words: Sequence[str],
    begins: str,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> dict[str, Any]:
    """Fill the likelihood store with the probabilities of ``words`` after the text ``begins``; returns the receipt.

    ``fingerprint`` is the generator's for likelihoods. Raises InputError where two words begin with one token.
    """
    tokenizer = load_tokenizer(generator)
    tokens = first_tokens(tokenizer, words, f"tokenizer of model {generator['model']!r}")
    first = text_ids(tokenizer, begins)

    start = one_engine(generator, fingerprint, cache_dir, threads)
    store, asked = LikelihoodStore(cache_dir, fingerprint), asked_words(prompts, tokens, first)
    receipt = fill_likelihoods(asked, store, generator, start)
    told = {"begins": first} if first else {}
    return {**receipt, "words": list(words), "tokens": tokens, "spelled": spelled(tokenizer, tokens), **told}


def label_by_judge(
    prompts: Sequence[str | Path], receipt: Mapping[str, Any], source: JudgeSource, cache_dir: str | Path
) -> pl.DataFrame:
    """references (null), qid, docno and the columns of ``source``, from each word's share in the probability of all.

    See word_shares. ``receipt``: what judge_passages returned.
    """
    asked = asked_words(prompts, receipt["tokens"], receipt.get("begins", ()))
    found = look_up(asked, LikelihoodStore(cache_dir, receipt["fingerprint"]))
    shares = word_shares(found, receipt["words"], PASSAGE)
    return shares.select(pl.lit(None, pl.String).alias("references"), *PASSAGE, *source.judged())
