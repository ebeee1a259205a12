"""Store every generated answer by prompt and seed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.generation.thought_marks import (
    NO_END,
    NO_THOUGHT,
    SHOWN,
    THINKING,
    UNFINISHED,
    Thought,
    check_shown,
    without_thinking,
)

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "prompt_id": pl.String,
    "seed": pl.Int64,
    "answer": pl.String,
    "finish_reason": pl.String,
    "prompt_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "answer_tokens": pl.Int64,
    "logprob": pl.Float64,
    "dropped_passages": pl.Int64,
    "token_logprobs": pl.List(pl.Float32),
    "token_entropies": pl.List(pl.Float32),
    "first_token_margin": pl.Float32,
    "thought": pl.String,
    "thought_tokens": pl.Int64,
    "thought_end": pl.String,
}
KEY = ["prompt_id", "seed"]
ROUNDING = 1e-3
"""How far above 0 a log-probability may be, because the sum over a long text accumulates rounding errors."""
AT_MOST = {"logprob": ROUNDING}
TOKEN_SCORES = ("token_logprobs", "token_entropies", "first_token_margin")
"""Columns from token_scores.token_scores. Parts written before a column was added lack the column."""
THOUGHT = ("thought", "thought_tokens", "thought_end")
"""Columns about the thought before an answer; parts may lack these columns too."""
PER_ANSWER = tuple(name for name in SCHEMA if name not in (*TOKEN_SCORES, *THOUGHT))


def known_sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum of ``counts``, or None if any count is None (unknown)."""
    listed = list(counts)
    return None if None in listed else sum(count for count in listed if count is not None)


def with_thought(row: Mapping[str, Any], thought: Thought, tokens: int | None) -> dict[str, Any]:
    """Add a ``thought``, generated in a separate request, to the ``row`` of the answer that follows the thought.

    ``tokens``: the thought's number of tokens; None if unknown. If the thought didn't end, the answer is set to null.
    """
    tokens = 0 if thought.end == NO_END else tokens
    if thought.end == UNFINISHED:
        none = {"answer": None, "finish_reason": THINKING, "answer_tokens": 0, "logprob": None}
        row = {**row, **none, **dict.fromkeys(TOKEN_SCORES)}
    parts = dict(zip(THOUGHT, (thought.text, tokens, thought.end), strict=True))
    return {**row, "answer_tokens": known_sum([tokens, row["answer_tokens"]]), **parts}


class AnswerStore(PartStore):
    """The answers stored under one fingerprint, in the folder ``<cache_dir>/answers/<fingerprint>``.

    Columns: prompt_id, seed, answer (null if missing; finish_reason says why), finish_reason, prompt_tokens,
    cached_tokens (prompt tokens from the prefix cache), answer_tokens (including tokens in the thought), logprob (sum
    over the answer's tokens in nats, before temperature and top-k), dropped_passages (left out of the prompt to fit the
    window), token_logprobs (the terms of ``logprob``), token_entropies (nats, for each token of the answer, over the 20
    likeliest candidates), first_token_margin (nats, between the two likeliest first tokens). Further columns if the
    engine or endpoint separates the thought from the answer: thought (with marks), thought_tokens, thought_end (see
    thought_marks.Thought). The columns from token_logprobs on are null in older parts, and where a value doesn't apply
    or isn't returned by an endpoint; token counts can be null too.
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        folder, later = Path(cache_dir) / "answers" / fingerprint, (*TOKEN_SCORES, *THOUGHT)
        super().__init__(folder, SCHEMA, KEY, later, AT_MOST)
        self.refused = PartStore(folder / "refused", SCHEMA, KEY, later, AT_MOST)
        """Rows for prompts that an endpoint refused. They aren't stored answers, so a rerun requests the answers
        again."""

    def append(self, answers: Sequence[Mapping[str, object]], metadata: Mapping[str, str]) -> Path:
        """Write ``answers`` and ``metadata`` as new parts; return the last part's path."""
        refused = [row for row in answers if "refusal" in row]
        if refused:
            path = self.refused.add(pl.DataFrame(refused, schema=SCHEMA), metadata)
        if len(refused) < len(answers):
            path = self.add(pl.DataFrame([row for row in answers if "refusal" not in row], schema=SCHEMA), metadata)
        return path

    def look_up(self, keys: pl.DataFrame, columns: Sequence[str] = PER_ANSWER) -> pl.DataFrame:
        """Return prompt_id, seed and ``columns`` of distinct stored rows for ``keys``, in no particular order.

        If the endpoint refused a prompt and hasn't answered it since, the row that records the refusal is returned.
        """
        held = self.held(keys)
        refused = self.refused.held(keys.join(held, on=KEY, how="anti"))
        return pl.concat([self.read(held, columns), self.refused.read(refused, columns)])

    def answers(self, keys: pl.DataFrame, marks: Sequence[str] | None) -> pl.DataFrame:
        """Return the answers for ``keys``, separated from thoughts, with columns PER_ANSWER and THOUGHT.

        ``marks``: the generator's thought marks (see reading_marks). If ``marks`` is None, raises InputError for an
        answer with thought marks (earlier versions stored such answers).
        """
        rows = self.look_up(keys, (*PER_ANSWER, *THOUGHT))
        if marks is None:
            for prompt_id, answer in (
                rows.filter(pl.col("answer").str.contains(SHOWN)).select("prompt_id", "answer").iter_rows()
            ):
                check_shown(answer, f"cached answers in {self.folder}", f"that to prompt {prompt_id[:16]}", None)
        return without_thinking(rows, None if marks == NO_THOUGHT else marks)
