"""Count the requests for nugget lists; the counts are exact if replies for earlier windows are stored."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.tokens import PromptTokenizer
from ragrelay.questions.nuggets.job import importance_asked, importance_tokens, written
from ragrelay.questions.nuggets.prompts import NuggetTemplate
from ragrelay.questions.nuggets.writing import Limits, Lists, Topic

NUGGET_TOKENS = 15
"""Assumed number of tokens (about a dozen words) in a nugget that hasn't been written yet."""
WINDOW: dict[str, Any] = {"prompt_id": pl.String, "cached": pl.Boolean, "certain": pl.Boolean, "requests": pl.Int64,
                          "prompt_tokens": pl.Float64, "answer_tokens": pl.Float64}  # fmt: skip
TO_COME: dict[str, Any] = {"prompt_id": pl.String, "item": pl.String, "prompt_tokens": pl.Float64}


def plan_lists(topics: Sequence[Topic], template: NuggetTemplate, limits: Limits, asker: Any) -> None:
    """Count the requests for nugget lists: one per query and window, and one per nugget to rate its importance.

    The number of windows is exact, except that lists truncated by max_tokens are requested a second time. If an earlier
    window's list isn't stored yet, the prompt's length is estimated, the list is assumed to have the maximum number of
    nuggets, and the request is marked as uncertain.
    """
    lists, tokenizer = Lists(topics, template, limits), PromptTokenizer(asker.generator)
    longest = limits.most * NUGGET_TOKENS
    cache_dir, definitions = asker.planned.cache_dir, limits.definitions(asker.generator)
    first, second = (AnswerStore(cache_dir, fingerprint(attempt, cache_dir=cache_dir)) for attempt in definitions)
    windows: list[tuple[Any, ...]] = []
    unknown: set[str] = set()
    for number in range(lists.steps()):
        asked = lists.asked(number)
        replies = written(first, asked, 1)
        replies |= written(second, asked.filter(pl.col("prompt_id").is_in([n for n in replies if replies[n].cut])), 2)
        for qid, name, prompt, system in asked.select("qid", "prompt_id", "prompt", "system").iter_rows():
            certain = qid not in unknown
            if certain and name in replies:
                lists.take(qid, replies[name])
                windows.append((name, True, True, 0, 0.0, 0.0))
                continue
            unknown.add(qid)
            tokens = len(tokenizer(prompt, system)) + (0 if certain else longest)
            name = name if certain else f"window {number} of {qid}"
            windows.append((name, False, certain, 1, float(tokens), float(min(limits.max_tokens, longest))))
    table, store = pl.DataFrame(windows, schema=WINDOW, orient="row"), pl.lit(f"answers/{first.folder.name}")
    asker.count(table.with_columns(store=store, item=pl.lit("list"), shared_tokens=pl.lit(0.0)))
    to_come: list[tuple[Any, ...]] = []
    for topic in lists.topics:
        if topic.qid in unknown:
            tokens = len(tokenizer(template.ask_importance(topic.query, ""), template.system)) + NUGGET_TOKENS
            to_come += [(f"nugget {n} of {topic.qid}", "importance", float(tokens)) for n in range(limits.most)]
    asker.to_come(pl.DataFrame(to_come, schema=TO_COME, orient="row"))
    lists.topics = [topic for topic in lists.topics if topic.qid not in unknown]
    asker.likelihoods(importance_asked(lists, template, importance_tokens(asker.generator)))
