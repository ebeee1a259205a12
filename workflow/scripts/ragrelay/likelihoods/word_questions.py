"""Questions that a generator answers by the probabilities of fixed words: asked, and the words' shares read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.generation.tokens import load_tokenizer
from ragrelay.likelihoods.engines import one_engine
from ragrelay.likelihoods.job import fill_likelihoods, look_up
from ragrelay.likelihoods.store import LikelihoodStore
from ragrelay.likelihoods.words import first_tokens, spelled, text_ids, token_table, word_shares


def with_words(
    questions: pl.DataFrame, tokens: Mapping[str, Sequence[int]], begins: Sequence[int] = ()
) -> pl.DataFrame:
    """``questions`` (prompt_id and more) with each token that represents a word: columns word and token_ids.

    ``tokens``: token ids by word, as words.first_tokens gives them; ``begins``: token ids that the answer has before.
    """
    return questions.join(token_table(tokens, begins), how="cross", maintain_order="left_right")


def ask_words(
    questions: pl.DataFrame,
    words: Sequence[str],
    begins: str,
    generator: Mapping[str, Any],
    fingerprint: str,
    cache_dir: str | Path,
    threads: int,
) -> dict[str, Any]:
    """Fill the likelihood store with ``words`` after the text ``begins`` for ``questions`` (prompt_id, prompt, system).

    ``fingerprint`` is the generator's for likelihoods. Returns the receipt of fill_likelihoods with words, tokens,
    spelled and begins, by which the probabilities are found. Raises InputError for words that the tokenizer can't tell
    apart, and for a question that doesn't fit the window.
    """
    tokenizer = load_tokenizer(generator)
    tokens = first_tokens(tokenizer, words, f"tokenizer of model {generator['model']!r}")
    first = text_ids(tokenizer, begins)
    start = one_engine(generator, fingerprint, cache_dir, threads)
    wanted = with_words(questions, tokens, first)
    receipt = fill_likelihoods(wanted, LikelihoodStore(cache_dir, fingerprint), generator, start)
    return {**receipt, "words": list(words), "tokens": tokens, "spelled": spelled(tokenizer, tokens), "begins": first}


def asked_shares(
    questions: pl.DataFrame, receipt: Mapping[str, Any], cache_dir: str | Path, by: Sequence[str] = ("prompt_id",)
) -> pl.DataFrame:
    """Columns ``by`` and shares (see words.word_shares) of each of ``questions`` (prompt_id and ``by``, distinct).

    ``receipt``: what ask_words returned, maybe of other questions to the same generator.
    """
    wanted = with_words(questions, receipt["tokens"], receipt.get("begins", ()))
    found = look_up(wanted, LikelihoodStore(cache_dir, receipt["fingerprint"]))
    return word_shares(found, receipt["words"], by)
