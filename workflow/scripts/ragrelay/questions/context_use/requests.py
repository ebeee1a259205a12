"""Request each answer's log-probability twice: after the answer's own prompt and after the zero-shot prompt."""

from typing import Any

import polars as pl

from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.likelihoods.continuations import with_continuation
from ragrelay.generation.requests import window_of
from ragrelay.generation.tokens import PromptTokenizer, plain_ids

ASKED: dict[str, Any] = {
    "prompt_id": pl.String,
    "prompt": pl.String,
    "system": pl.String,
    "token_ids": pl.List(pl.Int64),
}
ANSWER = ["qid", "prompt_id", "seed", "answer", "dropped_passages"]
"""The columns to read from answer files."""
KEYS = ["retriever", "ordering", "k", "qid", "seed"]


class AnswerScores:
    """Answers whose log-probabilities are requested; ``rows`` has each answer's two prompts, with and without context.

    ``answers`` has columns KEYS, prompt_id, answer and dropped_passages; ``prompts`` and ``zeroshot`` have prompt_id,
    qid, prompt and system. Empty answers, answers to truncated prompts, and answers that don't fit in the context
    window after the prompt are left out, because context use isn't defined for them.
    """

    def __init__(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, zeroshot: pl.DataFrame, generator: GeneratorEntry
    ) -> None:
        self.tokenizer = PromptTokenizer(generator)
        texts = ["prompt_id", "prompt", "system"]
        whole = answers.filter((pl.col("answer") != "") & (pl.col("dropped_passages") == 0))
        joined = whole.join(prompts.select(texts).unique("prompt_id"), on="prompt_id", maintain_order="left").join(
            zeroshot.select("qid", *texts), on="qid", suffix="_without", maintain_order="left"
        )
        continued = joined.with_columns(pl.Series("token_ids", self._answers(joined), dtype=ASKED["token_ids"]))
        lengths = {
            prompt_id: len(self.tokenizer(prompt, system))
            for prompt_id, prompt, system in joined.select(texts).unique("prompt_id").iter_rows()
        }
        window = window_of(generator)
        room = [
            len(ids) > 0 and (window is None or lengths[prompt_id] + len(ids) < window)
            for prompt_id, ids in continued.select("prompt_id", "token_ids").iter_rows()
        ]
        self.rows = with_continuation(continued.filter(pl.Series(room, dtype=pl.Boolean)))

    def asked(self) -> pl.DataFrame:
        """Return the requests (ASKED), two for each answer."""
        without = self.rows.select(
            pl.col(f"{name}_without").alias(name) if name != "token_ids" else pl.col(name) for name in ASKED
        )
        return pl.concat([self.rows.select(*ASKED), without])

    def _answers(self, joined: pl.DataFrame) -> list[list[int]]:
        """Return the answers' token ids, starting with a space unless the prompt ends with one."""
        ids = []
        for prompt, answer in joined.select("prompt", "answer").iter_rows():
            space = "" if self.tokenizer.chat or prompt[-1:].isspace() else " "
            ids.append(plain_ids(self.tokenizer.tokenizer, space + answer))
        return ids
