"""Count the requests of a job that writes lists of nuggets: exact as far as the store has the earlier windows."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.tokens import PromptTokenizer
from ragrelay.nuggets.job import importance_asked, importance_tokens, written
from ragrelay.nuggets.prompts import NuggetTemplate
from ragrelay.nuggets.writing import Limits, Lists, Topic

NUGGET_TOKENS = 15
"""Of a nugget that is not written yet: about a dozen words."""


def plan_lists(topics: Sequence[Topic], template: NuggetTemplate, limits: Limits, asker: Any) -> None:
    """Count a request per query and window, and one per nugget for its importance, by the plan's ``asker``.

    Requests for windows are exact, except that a list cut by max_tokens is asked for once more. If an earlier window is
    not written yet, the prompt's length is an estimate. A list that is not written counts with the largest number of
    nuggets that it may have. Both are marked as uncertain.
    """
    _Planned(asker, limits).count(Lists(topics, template, limits))


class _Planned:
    def __init__(self, asker: Any, limits: Limits) -> None:
        self.asker, self.limits = asker, limits
        cache_dir = asker.planned.cache_dir
        self.stores = [
            AnswerStore(cache_dir, fingerprint(definition, cache_dir=cache_dir))
            for definition in limits.definitions(asker.generator)
        ]
        self.tokenizer = PromptTokenizer(asker.generator)
        self.words = importance_tokens(asker.generator)

    def count(self, lists: Lists) -> None:
        """Count the requests for windows, then those for importance."""
        unknown: set[str] = set()
        rows: list[dict[str, Any]] = []
        for number in range(lists.steps()):
            asked = lists.asked(number)
            lists_written = written(self.stores[0], asked, 1)
            cut = asked.filter(pl.col("prompt_id").is_in([name for name in lists_written if lists_written[name].cut]))
            lists_written |= written(self.stores[1], cut, 2)
            for qid, name, prompt, system in asked.select("qid", "prompt_id", "prompt", "system").iter_rows():
                cached = qid not in unknown and name in lists_written
                rows.append(self._window(qid, name, prompt, system, number, qid not in unknown, cached))
                if cached:
                    lists.take(qid, lists_written[name])
                else:
                    unknown.add(qid)
        for topic in lists.topics:
            if topic.qid in unknown:
                rows += self._to_come(lists, topic)
        self.asker.count(pl.DataFrame(rows, schema=self.asker.columns))
        lists.topics = [topic for topic in lists.topics if topic.qid not in unknown]
        asked = importance_asked(lists, lists.template, self.words)
        self.asker.likelihoods(asked)

    def _window(
        self, qid: str, name: str, prompt: str, system: str, number: int, certain: bool, cached: bool
    ) -> dict[str, Any]:
        before = 0 if certain else self.limits.most * NUGGET_TOKENS
        return {
            "store": f"answers/{self.stores[0].folder.name}",
            "prompt_id": name if certain else f"window {number} of {qid}",
            "item": "list",
            "cached": cached,
            "certain": certain,
            "requests": int(not cached),
            "prompt_tokens": 0.0 if cached else float(len(self.tokenizer(prompt, system)) + before),
            "shared_tokens": 0.0,
            "answer_tokens": 0.0 if cached else float(min(self.limits.max_tokens, self.limits.most * NUGGET_TOKENS)),
        }

    def _to_come(self, lists: Lists, topic: Topic) -> Iterator[dict[str, Any]]:
        prompt = lists.template.ask_importance(topic.query, "")
        tokens = len(self.tokenizer(prompt, lists.template.system)) + NUGGET_TOKENS
        for number in range(self.limits.most):
            yield {
                "store": f"likelihoods/{self.asker.planned.likelihoods.folder.name}",
                "prompt_id": f"nugget {number} of {topic.qid}",
                "item": "importance",
                "cached": False,
                "certain": False,
                "requests": 1,
                "prompt_tokens": float(tokens),
                "shared_tokens": 0.0,
                "answer_tokens": 0.0,
            }
