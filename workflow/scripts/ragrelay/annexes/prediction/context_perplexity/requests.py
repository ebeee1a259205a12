"""Build the requests for log-probabilities of single passages and complete contexts."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from ragrelay.base.vocabulary.columns import QID, integer, number, schema_of
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.likelihoods.continuations import with_continuation, without_chat
from ragrelay.generation.requests import window_of
from ragrelay.generation.tokens import PromptTokenizer, plain_ids
from ragrelay.prompting.layout import prompt_id

PROMPT = "Q: {query}\nA: "
"""The text that precedes the context, from the code of Tian et al. (2026)."""
PASSAGE_TOKENS = 512
"""Maximum number of tokens in the prompt and one passage, as in the code of Tian et al."""
PLACE = {
    "qid": QID,
    "rank": integer("rank of the passage among the passages with text, counted from 1; empty in rows for a complete "
        "context"),
    "k": integer("number of passages in the complete context, whose texts are concatenated; empty in rows for a single "
        "passage"),
}  # fmt: skip
COLUMNS = {
    **PLACE,
    "tokens": integer("number of scored tokens in the text of the passage or context", "tokens"),
    "logprob": number("log-probability of the text of the passage or context after the query", "nats"),
}
SCHEMA = schema_of(COLUMNS)
ASKED: dict[str, Any] = {
    **schema_of(PLACE),
    "prompt_id": pl.String,
    "prompt": pl.String,
    "system": pl.String,
    "token_ids": pl.List(pl.Int64),
}


def whole_tokens(k: int) -> int:
    """Return how many tokens the prompt and ``k`` passages may have in total (the limit in Tian et al.'s code)."""
    return 1024 + 256 * max(0, k - 5)


def context_requests(
    queries: pl.DataFrame, contexts: pl.DataFrame, ks: Sequence[int], generator: GeneratorEntry
) -> pl.DataFrame:
    """Return likelihood requests for each passage and each complete context (columns ASKED and continuation).

    ``queries``: columns qid and query; ``contexts``: columns qid, rank and text. Passages and prompts are tokenised
    separately, without a chat template. Texts are truncated at the end to fit the generator's window and PASSAGE_TOKENS
    (passages) or ``whole_tokens`` (contexts). Texts without tokens are left out.
    """
    tokenizer, window = PromptTokenizer(without_chat(generator)), window_of(generator)
    texts = dict(contexts.sort("qid", "rank").group_by("qid", maintain_order=True).agg("text").iter_rows())
    rows = []
    for qid, query in queries.select("qid", "query").iter_rows():
        prompt = PROMPT.format(query=query)
        before = len(tokenizer(prompt))
        for rank, k, text, most in _texts(texts.get(qid, []), ks):
            room = (most if window is None else min(most, window - 1)) - before
            ids = plain_ids(tokenizer.tokenizer, text)
            if kept := ids[: max(0, room)]:
                rows.append((qid, rank, k, prompt_id(prompt), prompt, "", kept))
    return with_continuation(pl.DataFrame(rows, schema=ASKED, orient="row"))


def _texts(texts: Sequence[str], ks: Sequence[int]) -> Iterator[tuple[int | None, int | None, str, int]]:
    """Yield rank, k, text and maximum tokens for each passage, then for each complete context."""
    for rank, text in enumerate(texts[: max(ks)], start=1):
        yield rank, None, text, PASSAGE_TOKENS
    for k in sorted(ks) if texts else ():
        yield None, k, "".join(texts[:k]), whole_tokens(k)
