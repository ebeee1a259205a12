"""Find the tokens that represent a word at the beginning of a reply, and normalise the words' probabilities."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.base.errors import RequestError


def first_tokens(tokenizer: Any, words: Sequence[str], place: str) -> dict[str, list[int]]:
    """Return one or two token ids for each word: the first token of the word with and without a leading space.

    The variant with a space is used only if it isn't longer (in tokens) than the variant without, because some
    tokenizers turn the space into a separate token. A word's probability is the sum of its tokens' probabilities.
    DRUID's code (Hagström et al.) also uses the first token, and warns if it isn't the complete word. Raises
    RequestError if two words share a token or a word has no token; ``place`` names the tokenizer in the message.
    """
    ids_of = {}
    for word in words:
        bare, spaced = (text_ids(tokenizer, text) for text in (word, f" {word}"))
        if not bare or bare[0] == tokenizer.unk_token_id:
            raise RequestError(place, f"no token for {word!r}", "a vocabulary with this token")
        ids_of[word] = sorted({bare[0], spaced[0]} if len(spaced) <= len(bare) else {bare[0]})
    for place_of, word in enumerate(words):
        for other in words[:place_of]:
            if shared := set(ids_of[word]) & set(ids_of[other]):
                text = tokenizer.convert_ids_to_tokens(min(shared))
                raise RequestError(
                    place, f"{other!r} and {word!r}, both beginning with token {text!r}", "different first tokens"
                )
    return ids_of


def token_table(tokens: Mapping[str, Sequence[int]], begins: Sequence[int] = ()) -> pl.DataFrame:
    """Return a row for each token of each word, with columns word and token_ids (``begins``, then the token)."""
    rows = [(word, [*begins, token]) for word, ids in tokens.items() for token in ids]
    return pl.DataFrame(rows, schema={"word": pl.String, "token_ids": pl.List(pl.Int64)}, orient="row")


def spelled(tokenizer: Any, tokens: dict[str, list[int]]) -> dict[str, list[dict[str, object]]]:
    """Describe each word's tokens for the receipt: id, text, and whether the token is the complete word."""
    return {
        word: [
            {"id": token, "text": tokenizer.decode([token]), "whole": _is_whole(tokenizer, word, token)}
            for token in ids
        ]
        for word, ids in tokens.items()
    }


def word_shares(likelihoods: pl.DataFrame, words: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """Compute the total probability of ``words`` (mass), and each word's share of the total (shares).

    ``likelihoods``: columns ``by``, word and logprob, one row per token. A word's probability is the sum of its tokens'
    probabilities. The shares (a list) are equal if all probabilities are 0; mass is between 0 and 1. Source of the
    quotient: Nogueira et al., Document Ranking with a Pretrained Sequence-to-Sequence Model, Findings of EMNLP 2020.
    """
    of_word = [(pl.col("word") == word).cast(pl.Float64) for word in words]
    # Divide by the largest probability first, so that tiny ones don't become 0 / 0.
    largest = pl.col("logprob").max().over(by)
    # An endpoint may return candidates that spell none of the words; none of them is then known to be likelier.
    relative = pl.when(largest == -math.inf).then(1.0).otherwise((pl.col("logprob") - largest).exp())
    return (
        likelihoods.with_columns(relative.alias("relative"))
        .group_by(by, maintain_order=True)
        .agg(
            pl.concat_list((pl.col("relative") * word).sum() / pl.col("relative").sum() for word in of_word)
            .first()
            .alias("shares"),
            mass=pl.col("logprob").exp().sum().clip(upper_bound=1.0),
        )
    )


def text_ids(tokenizer: Any, text: str) -> list[int]:
    """Return the token ids of ``text``, without adding special tokens.

    The text of a special token becomes that token (unlike in tokens.plain_ids), because words and beginnings of replies
    come from the study's templates, not from passages.
    """
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _is_whole(tokenizer: Any, word: str, token: int) -> bool:
    return [token] in (text_ids(tokenizer, word), text_ids(tokenizer, f" {word}"))
