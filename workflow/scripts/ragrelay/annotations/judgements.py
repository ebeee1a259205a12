"""The generator asked whether a passage is relevant: labels from its probabilities of yes and of no."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annotations.single_answers import PASSAGE
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods, look_up
from ragrelay.likelihoods.store import LikelihoodStore
from ragrelay.likelihoods.words import first_tokens, spelled, token_table

ASKED: dict[str, Any] = {
    "qid": pl.String, "docno": pl.String, "prompt_id": pl.String, "prompt": pl.String, "system": pl.String,
    "word": pl.String, "token_ids": pl.List(pl.Int64),
}  # fmt: skip


def asked_words(prompts: Sequence[str | Path], tokens: Mapping[str, Sequence[int]]) -> pl.DataFrame:
    """Columns ASKED: each passage's question (files of single prompts) with each token that stands for yes or for no.

    ``tokens``: token ids by word, as likelihoods.words.first_tokens gives them.
    """
    columns = ["qid", "docnos", "prompt_id", "prompt", "system"]
    frames = [pl.read_parquet(path, columns=columns, glob=False) for path in prompts]
    passages = pl.concat(frames).with_columns(pl.col("docnos").list.first().alias("docno"))
    distinct = passages.unique(PASSAGE, keep="first", maintain_order=True)
    return distinct.join(token_table(tokens), how="cross", maintain_order="left_right").select(*ASKED)


def judge_passages(
    prompts: Sequence[str | Path],
    words: Sequence[str],
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> dict[str, Any]:
    """Fill the likelihood store with the probabilities of ``words`` (for yes, for no); returns the receipt.

    ``fingerprint`` is the generator's for likelihoods. Raises InputError where the two words begin with one token.
    """
    tokenizer = load_tokenizer(generator)
    tokens = first_tokens(tokenizer, words, f"tokenizer of model {generator['model']!r}")

    start = one_engine(generator, fingerprint, cache_dir, threads)
    receipt = fill_likelihoods(asked_words(prompts, tokens), LikelihoodStore(cache_dir, fingerprint), generator, start)
    return {**receipt, "words": list(words), "tokens": tokens, "spelled": spelled(tokenizer, tokens)}


def label_by_judge(prompts: Sequence[str | Path], receipt: Mapping[str, Any], cache_dir: str | Path) -> pl.DataFrame:
    """qid, docno, label, and references (null): p(yes) / (p(yes) + p(no)), summed over each word's tokens.

    Source of asking so, and of the quotient: Nogueira et al., Document Ranking with a Pretrained Sequence-to-Sequence
    Model, Findings of EMNLP 2020. ``receipt``: what ``judge`` returned.
    """
    found = look_up(asked_words(prompts, receipt["tokens"]), LikelihoodStore(cache_dir, receipt["fingerprint"]))
    yes = (pl.col("word") == receipt["words"][0]).cast(pl.Float64)
    # Divided by the likelier one's first, so that two tiny probabilities don't become 0 / 0.
    relative = (pl.col("logprob") - pl.col("logprob").max().over(PASSAGE)).exp()
    return (
        found.with_columns(relative.alias("relative"))
        .group_by(PASSAGE, maintain_order=True)
        .agg(((pl.col("relative") * yes).sum() / pl.col("relative").sum()).alias("label"))
        .select(pl.lit(None, pl.String).alias("references"), *PASSAGE, "label")
    )
