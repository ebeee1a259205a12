"""The generator asked whether a passage is relevant: labels from its probabilities of yes and of no."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annotations.judge_source import JudgeSource
from ragrelay.annotations.single_answers import PASSAGE
from ragrelay.likelihoods.word_questions import ask_words, asked_shares

QUESTION = ["prompt_id", "prompt", "system"]


def passage_questions(prompts: Sequence[str | Path]) -> pl.DataFrame:
    """qid, docno, prompt_id, prompt, system: each passage's question, from files of single prompts.

    A passage has one question, whichever retriever found it; in the checks of a judge it has several.
    """
    columns = ["qid", "docnos", *QUESTION]
    frames = [pl.read_parquet(path, columns=columns, glob=False) for path in prompts]
    passages = pl.concat(frames).with_columns(pl.col("docnos").list.first().alias("docno"))
    return passages.unique([*PASSAGE, "prompt_id"], keep="first", maintain_order=True).select(*PASSAGE, *QUESTION)


def judge_passages(
    prompts: Sequence[str | Path],
    words: Sequence[str],
    begins: str,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> dict[str, Any]:
    """Fill the likelihood store with the probabilities of ``words`` after each passage's question; the receipt.

    See likelihoods.word_questions.ask_words.
    """
    return ask_words(passage_questions(prompts), words, begins, generator, fingerprint, cache_dir, threads)


def label_by_judge(
    prompts: Sequence[str | Path], receipt: Mapping[str, Any], source: JudgeSource, cache_dir: str | Path
) -> pl.DataFrame:
    """references (null), qid, docno and the columns of ``source``, from each word's share in the probability of all.

    ``receipt``: what judge_passages returned.
    """
    shares = asked_shares(passage_questions(prompts), receipt, cache_dir, PASSAGE)
    return shares.select(pl.lit(None, pl.String).alias("references"), *PASSAGE, *source.judged())
