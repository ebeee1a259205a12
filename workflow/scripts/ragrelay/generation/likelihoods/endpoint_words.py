"""Request word probabilities from an endpoint, which returns only the likeliest candidates for a reply's first token.

A word's probability is the total probability of the candidates that spell the word. If no candidate spells the word,
its probability is set to 0, so the words' total probability (mass) is underestimated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.base.errors import RequestError
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.likelihoods.words import first_tokens
from ragrelay.generation.requests import sends_texts
from ragrelay.generation.tokens import load_tokenizer


def spellings(generator: GeneratorEntry, words: Sequence[str]) -> dict[str, list[str]]:
    """Return the candidate texts that spell each of ``words``.

    With a tokenizer, a word's candidates are the texts of its possible first tokens; without one, the candidates are
    the word itself, with and without a leading space. Raises RequestError if the same text spells two words.
    """
    if sends_texts(generator):
        texts = {word: sorted({word, f" {word}"}) for word in words}
        if len({text for of_word in texts.values() for text in of_word}) < 2 * len(texts):
            found = f"words that differ only by a leading space: {', '.join(map(repr, words))}"
            raise RequestError(f"model {generator['model']!r}", found, "words that differ in other characters")
        return texts
    tokenizer = load_tokenizer(generator)
    tokens = first_tokens(tokenizer, words, f"tokenizer of model {generator['tokenizer']!r}")
    return {word: sorted({tokenizer.decode([token]) for token in ids}) for word, ids in tokens.items()}


def with_spellings(questions: pl.DataFrame, spelled: Mapping[str, Sequence[str]], begins: str) -> pl.DataFrame:
    """Repeat each question for every word, and add the columns word, spellings, begins and continuation.

    ``continuation`` identifies the word in the likelihood store: a hash (32 hex digits) of the word's spellings and of
    ``begins``, the text that the reply must begin with.
    """
    rows = [(word, list(texts), begins, value_hash([begins, *texts], digits=32)) for word, texts in spelled.items()]
    schema: dict[str, Any] = {
        "word": pl.String,
        "spellings": pl.List(pl.String),
        "begins": pl.String,
        "continuation": pl.String,
    }
    return questions.join(pl.DataFrame(rows, schema=schema, orient="row"), how="cross", maintain_order="left_right")
