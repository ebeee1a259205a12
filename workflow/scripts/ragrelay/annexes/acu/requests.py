"""List a claims study's requests: each label word's probability after each prompt, and the evidence's likelihood."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.annexes.acu.claims import with_stance
from ragrelay.annexes.acu.stances import WORDS
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.likelihoods.continuations import with_continuation
from ragrelay.generation.likelihoods.words import first_tokens, spelled, token_table
from ragrelay.generation.tokens import load_tokenizer, plain_ids
from ragrelay.prompting.layout import prompt_id

KEYS: dict[str, Any] = {
    "template": pl.String,
    "id": pl.String,
    "evidence": pl.Boolean,
    "word": pl.String,
    "prompt_id": pl.String,
    "continuation": pl.String,
}
"""One row per claim-evidence pair, template, prompt (with or without evidence) and word; a word that may begin
with either of two tokens has two rows. The row for the evidence's own likelihood has no template and no word."""


class Asked:
    """Requests to ``generator`` about the ``claims`` that have a stance; ``prompts`` are keyed by template.

    ``own_words``: for templates that don't use WORDS in prompts with evidence, the words to use, keyed by template.
    """

    def __init__(
        self,
        claims: pl.DataFrame,
        prompts: Mapping[str, pl.DataFrame],
        generator: GeneratorEntry,
        own_words: Mapping[str, Sequence[str]],
    ) -> None:
        self.tokenizer = load_tokenizer(generator)
        place = f"tokenizer of model {generator['model']!r}"
        self.words = first_tokens(self.tokenizer, WORDS, place)
        self.own_words = {name: first_tokens(self.tokenizer, words, place) for name, words in own_words.items()}
        self.of_words = with_continuation(pl.concat([self._after(name, frame) for name, frame in prompts.items()]))
        self.of_evidence = with_continuation(self._of_evidence(with_stance(claims)))

    def keys(self) -> pl.DataFrame:
        """Return the keys of all likelihoods needed for the claim-evidence pairs (columns KEYS)."""
        return pl.concat([frame.select(*KEYS) for frame in (self.of_words, self.of_evidence)])

    def spelled(self) -> dict[str, list[dict[str, object]]]:
        """Return each label word's possible first tokens, for the receipt."""
        words = {word: ids for own in self.own_words.values() for word, ids in own.items()}
        return spelled(self.tokenizer, {**self.words, **words})

    def _after(self, template: str, prompts: pl.DataFrame) -> pl.DataFrame:
        parts = [(prompts, self.words)]
        if own := self.own_words.get(template):
            shown = pl.col("evidence")
            named = dict(zip(WORDS, own.values(), strict=True))
            parts = [(prompts.filter(~shown), self.words), (prompts.filter(shown), named)]
        requests = [part.join(token_table(words), how="cross", maintain_order="left_right") for part, words in parts]
        return pl.concat(requests).select(
            pl.lit(template).alias("template"), "id", "evidence", "word", "prompt", "system", "prompt_id", "token_ids"
        )

    def _of_evidence(self, claims: pl.DataFrame) -> pl.DataFrame:
        ids = [plain_ids(self.tokenizer, text) for text in claims["evidence"]]
        return claims.select(
            pl.lit(None, dtype=pl.String).alias("template"),
            "id",
            pl.lit(True).alias("evidence"),
            pl.lit(None, dtype=pl.String).alias("word"),
            pl.lit("").alias("prompt"),
            pl.lit("").alias("system"),
            pl.lit(prompt_id("")).alias("prompt_id"),
            pl.Series("token_ids", ids, dtype=pl.List(pl.Int64)),
        )
