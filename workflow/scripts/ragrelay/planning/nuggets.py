"""What a job that writes lists of nuggets will ask for: exact as far as the windows before are in the store."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.tokens import PromptTokenizer
from ragrelay.nuggets.job import importance_asked, importance_tokens, written
from ragrelay.nuggets.prompts import NuggetTemplate
from ragrelay.nuggets.topics import read_topics
from ragrelay.nuggets.writing import Limits, Lists
from ragrelay.planning.generator_plan import GeneratorPlan
from ragrelay.planning.likelihoods import likelihood_work
from ragrelay.planning.work import WORK, Job

NUGGET_TOKENS = 15
"""Of a nugget that is not written yet: about a dozen words."""


def nuggets_work(job: Job, planned: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """WORK of a scorer's lists: a request per query and window, and one per nugget for its importance.

    Requests for windows are exact but for those that max_tokens cut, which are asked for once more. A window after one
    that is not written yet has an estimated prompt, and a list that is not written counts at most as many nuggets as
    it may have; both are uncertain.
    """
    [queries] = job.paths("queries", dataset=job.dataset)
    [passages] = job.paths(job.lists["read_from"], dataset=job.dataset, **job.lists["of"])
    lists, frames, of_list = _Planned(job, planned[job.generator]), [pl.DataFrame(schema=WORK)], job.lists["passages"]
    for shard in range(job.shards):
        topics = read_topics(queries, passages, **of_list, shard=shard, shards=job.shards)
        frames += lists.work(Lists(topics, NuggetTemplate(**job.lists["template"]), lists.limits), shard)
    return pl.concat(frames)


class _Planned:
    def __init__(self, job: Job, planned: GeneratorPlan) -> None:
        self.planned, self.limits = planned, Limits(**job.lists["limits"])
        cache_dir = planned.cache_dir
        definitions = self.limits.definitions(planned.generator)
        self.stores = [AnswerStore(cache_dir, fingerprint(one, cache_dir=cache_dir)) for one in definitions]
        self.tokenizer = PromptTokenizer(planned.generator)
        self.words = importance_tokens(planned.generator)

    def work(self, lists: Lists, shard: int) -> Iterator[pl.DataFrame]:
        """Of the windows, then of importance."""
        unknown: set[str] = set()
        rows: list[dict[str, Any]] = []
        for number in range(lists.steps()):
            asked = lists.asked(number)
            found = written(self.stores[0], asked, 1)
            cut = asked.filter(pl.col("prompt_id").is_in([name for name in found if found[name].cut]))
            found |= written(self.stores[1], cut, 2)
            for qid, name, prompt, system in asked.select("qid", "prompt_id", "prompt", "system").iter_rows():
                cached = qid not in unknown and name in found
                rows.append(self._window(qid, name, prompt, system, number, qid not in unknown, cached, shard))
                if cached:
                    lists.take(qid, found[name])
                else:
                    unknown.add(qid)
        yield pl.DataFrame(rows, schema=WORK)
        rows = [row for topic in lists.topics if topic.qid in unknown for row in self._to_come(lists, topic, shard)]
        yield pl.DataFrame(rows, schema=WORK)
        lists.topics = [topic for topic in lists.topics if topic.qid not in unknown]
        asked = importance_asked(lists, lists.template, self.words)
        yield likelihood_work(asked, self.planned.likelihoods, self.planned, self.planned.generator, shard)

    def _window(
        self, qid: str, name: str, prompt: str, system: str, number: int, certain: bool, cached: bool, shard: int
    ) -> dict[str, Any]:
        before = 0 if certain else self.limits.most * NUGGET_TOKENS
        return {
            "store": f"answers/{self.stores[0].folder.name}",
            "prompt_id": name if certain else f"window {number} of {qid}",
            "item": "list",
            "part": shard,
            "cached": cached,
            "certain": certain,
            "requests": int(not cached),
            "prompt_tokens": 0.0 if cached else float(len(self.tokenizer(prompt, system)) + before),
            "shared_tokens": 0.0,
            "answer_tokens": 0.0 if cached else float(min(self.limits.max_tokens, self.limits.most * NUGGET_TOKENS)),
        }

    def _to_come(self, lists: Lists, topic: Any, shard: int) -> Iterator[dict[str, Any]]:
        prompt = lists.template.ask_importance(topic.query, "")
        tokens = len(self.tokenizer(prompt, lists.template.system)) + NUGGET_TOKENS
        for number in range(self.limits.most):
            yield {
                "store": f"likelihoods/{self.planned.likelihoods.folder.name}",
                "prompt_id": f"nugget {number} of {topic.qid}",
                "item": "importance",
                "part": shard,
                "cached": False,
                "certain": False,
                "requests": 1,
                "prompt_tokens": float(tokens),
                "shared_tokens": 0.0,
                "answer_tokens": 0.0,
            }
