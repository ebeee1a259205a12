"""Compare stored and regenerated answers: are they equal, and if not, where do the texts first differ?"""

from collections.abc import Callable, Sequence
from itertools import takewhile

import polars as pl

from ragrelay.annexes.recheck.sides import SIDES
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, PROMPT_ID, QID, SEED, boolean, integer, schema_of, text
from ragrelay.generation.store import KEY, THOUGHT
from ragrelay.generation.thought_marks import without_thinking

TEXTS = ("answer", "finish_reason")
COUNTS = ("prompt_tokens", "answer_tokens")
TOKENS, WORDS = "tokens", "words"
COLUMNS = {
    "qid": QID,
    "prompt_id": PROMPT_ID,
    "seed": SEED,
    **CONTEXT_COLUMNS,
    "equal": boolean("whether the stored and the regenerated answer have the same text (including a thought before the "
                     "answer, which this table omits), finish reason and token counts"),
    "equal_here": boolean("whether a second regeneration on the same machine or endpoint, with the answers split into "
        "two batches, gave the same answer as the first; empty if all answers equal the stored ones"),
    "same_until": integer("number of tokens or words before the two texts first differ; empty if the texts are the "
                          "same"),
    "unit": text(f"unit of `same_until`: `{TOKENS}` of the generator's tokenizer, or `{WORDS}` if the tokenizer is "
                 "unknown"),
    **{f"answer_{side}": text(f"{what}; empty if it is missing") for side, what in SIDES.items()},
    **{f"finish_reason_{side}": text(f"why {what} ended, or why it is missing") for side, what in SIDES.items()},
    **{f"prompt_tokens_{side}": integer(f"tokens in {what}'s prompt", "tokens") for side, what in SIDES.items()},
    **{f"answer_tokens_{side}": integer(f"number of tokens in {what}", "tokens") for side, what in SIDES.items()},
}  # fmt: skip
"""Columns of answers.parquet."""
Split = Callable[[str], Sequence[object]]


def compared(
    drawn: pl.DataFrame,
    then: pl.DataFrame,
    now: pl.DataFrame,
    split: Split,
    unit: str,
    marks: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Compare both versions of each answer in ``drawn``; returns columns COLUMNS without ``equal_here``.

    ``drawn`` has columns qid, prompt_id, seed, retriever, ordering and k. ``then`` and ``now``: the stored and the
    regenerated answers (prompt_id, seed, TEXTS, COUNTS, THOUGHT). Answers that aren't in ``now`` count as missing.
    ``split`` divides a text into tokens or words (``unit``). ``marks``: the strings that separate thoughts from
    answers. Token counts are treated as equal if either is unknown.
    """
    rows = drawn
    for side, answers in (("then", then), ("now", now)):
        told = without_thinking(answers.select(*KEY, *TEXTS, *COUNTS, *THOUGHT), marks)
        named = told.rename({name: f"{name}_{side}" for name in told.columns if name not in KEY})
        rows = rows.join(named, on=KEY, how="left", maintain_order="left")
    same = [pl.col(f"{name}_then").eq_missing(pl.col(f"{name}_now")) for name in (*TEXTS, "thought")]
    counts = (*COUNTS, "thought_tokens")
    same += [(pl.col(f"{name}_then") == pl.col(f"{name}_now")).fill_null(True) for name in counts]
    whole = [pl.concat_str(f"thought_{side}", f"answer_{side}", ignore_nulls=True) for side in SIDES]
    known = [~pl.all_horizontal(pl.col(f"thought_{side}", f"answer_{side}").is_null()) for side in SIDES]
    texts = rows.select(
        pl.when(is_text).then(text).alias(side) for side, text, is_text in zip(SIDES, whole, known, strict=True)
    )
    until = [same_until(one, other, split) for one, other in texts.iter_rows()]
    rows = rows.with_columns(
        pl.all_horizontal(same).alias("equal"),
        pl.Series("same_until", until, dtype=pl.Int64),
        pl.lit(unit).alias("unit"),
        pl.col("retriever").cast(pl.String),
    )
    return rows.select(name for name in schema_of(COLUMNS) if name in rows.columns)


def same_until(one: str | None, other: str | None, split: Split) -> int | None:
    """Return how many tokens or words two texts share at the start, or None if the texts are equal.

    ``split``: the function that divides a text into tokens or words. The result is 0 if a text is missing.
    """
    if one == other:
        return None
    if one is None or other is None:
        return 0
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(split(one), split(other), strict=False)))
