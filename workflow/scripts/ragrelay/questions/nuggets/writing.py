"""Have a generator write nugget lists, window by window. Each prompt contains a window of passages and the list so far.

The procedure (windows of 10 passages, lists of at most 30 nuggets) follows Pradeep et al., Initial Nugget Evaluation
Results for the TREC 2024 RAG Track with the AutoNuggetizer Framework (arXiv 2411.09607).

Each reply is a JSON array of strings, which vLLM's structured output enforces. The array is described by a regular
expression rather than a JSON schema, because a regular expression can exclude escapes and line breaks, so that even
truncated replies can be parsed.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import NEUTRAL
from ragrelay.generation.store import KEY
from ragrelay.prompting.layout import prompt_id
from ragrelay.questions.nuggets.prompts import NuggetTemplate
from ragrelay.scoring.nugget_lists import folded

LIST_SEED = 0
"""The seed stored with lists, which are generated without sampling."""
ASKED: dict[str, Any] = {
    "prompt_id": pl.String, "seed": pl.Int64, "qid": pl.String, "docnos": pl.List(pl.String), "prompt": pl.String,
    "system": pl.String,
}  # fmt: skip
GREEDY = {**NEUTRAL, "temperature": 0.0, "top_p": 1.0, "stop": []}
RETRY = 2
"""A list truncated by max_tokens is generated a second time, with this many times as many tokens."""
LONGEST_TEXT = 150
"""Maximum number of characters in a nugget (about a dozen words). Without a limit, small models may never end one."""
_CHARACTER = r'[^"\\\x00-\x1f\x7f]'
_ITEM = re.compile(rf'"({_CHARACTER}*)"')


class Topic(NamedTuple):
    """A query and its passages (docno, text), in the order in which they appear in prompts."""

    qid: str
    query: str
    passages: Sequence[tuple[str, str]]


class Written(NamedTuple):
    """A generator's reply to a prompt; ``tries``: number of attempts, ``cut``: whether the reply was truncated."""

    answer: str
    tries: int
    cut: bool


Ask = Callable[[pl.DataFrame], Mapping[str, Written]]
"""A function that takes prompts (ASKED) and returns the reply to each prompt_id."""


@dataclass(frozen=True)
class Limits:
    """Maximum passages per window, nuggets per list, and tokens per reply in the first attempt."""

    window: int
    most: int
    max_tokens: int

    def definitions(self, generator: GeneratorEntry) -> list[GeneratorEntry]:
        """Return two versions of ``generator`` that decode greedily, for the first and the second attempt at a list."""
        others = {name: value for name, value in generator.items() if name not in ("repetition_window", "thinking")}
        fixed = {**GREEDY, "over_window": "error", "structured": form(self.most)}
        return [{**others, **fixed, "max_tokens": times * self.max_tokens} for times in (1, RETRY)]  # type: ignore[typeddict-item]


class Lists:
    """Nugget lists for some topics, built window by window.

    ``counts`` are the numbers of lists, windows, repeated windows, truncated replies and duplicate texts.
    """

    def __init__(self, topics: Sequence[Topic], template: NuggetTemplate, limits: Limits) -> None:
        self.topics = [topic for topic in topics if topic.passages]
        self.template, self.limits = template, limits
        self.texts: dict[str, list[str]] = {topic.qid: [] for topic in self.topics}
        self.counts = {"lists": len(self.texts), "windows": 0, "again": 0, "cut": 0, "repeated": 0}

    def write(self, ask: Ask) -> None:
        """Request all windows: every query's first window, then every query's second window, and so on."""
        for number in range(self.steps()):
            asked = self.asked(number)
            replies = ask(asked)
            for qid, name in asked.select("qid", "prompt_id").iter_rows():
                self.take(qid, replies[name])

    def steps(self) -> int:
        """Return the number of windows needed for the topic with the most passages."""
        return max((-(-len(topic.passages) // self.limits.window) for topic in self.topics), default=0)

    def asked(self, number: int) -> pl.DataFrame:
        """Return the prompts (ASKED) for window ``number`` (from 0), including the lists so far."""
        return pl.DataFrame(list(self._rows(number)), schema=ASKED, orient="row")

    def _rows(self, number: int) -> Iterator[tuple[Any, ...]]:
        size, system = self.limits.window, self.template.system
        for topic in self.topics:
            if shown := topic.passages[number * size : (number + 1) * size]:
                texts = [text for _, text in shown]
                prompt = self.template.ask_list(topic.query, texts, self.texts[topic.qid], self.limits.most)
                yield prompt_id(prompt, system), LIST_SEED, topic.qid, [docno for docno, _ in shown], prompt, system

    def take(self, qid: str, written: Written) -> None:
        """Replace a query's list with the list in the reply ``written``."""
        # A truncated list may have lost nuggets that were in the earlier list.
        before = self.texts[qid] if written.cut else []
        listed = read_list(written.answer, before)
        self.counts["windows"] += 1
        self.counts["again"] += written.tries > 1
        self.counts["cut"] += written.cut
        self.counts["repeated"] += listed.repeated
        self.texts[qid] = listed.texts[: self.limits.most]


def keys(asked: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct requests in ``asked``, with the columns required by generation.requests."""
    size = pl.col("prompt", "system").str.len_bytes().cast(pl.Int64)
    keyed = asked.unique(KEY, keep="first", maintain_order=True)
    return keyed.with_columns(retriever=pl.lit(""), size=pl.sum_horizontal(size))


class WrittenList(NamedTuple):
    """The ``texts`` in a list, and the number of blank or duplicate texts that were dropped (``repeated``)."""

    texts: list[str]
    repeated: int


def form(most: int) -> str:
    """Return the regular expression for a JSON list of 1 to ``most`` strings."""
    text = rf'"{_CHARACTER}{{1,{LONGEST_TEXT}}}"'
    return rf"\[{text}(, {text}){{0,{most - 1}}}\]"


def read_list(answer: str, before: Sequence[str] = ()) -> WrittenList:
    """Return the complete texts in a (possibly truncated) list, followed by texts that are only in ``before``."""
    items = [" ".join(text.split()) for text in _ITEM.findall(answer)]
    texts: dict[str, str] = {}
    for text in filter(None, items):
        texts.setdefault(folded(text), text)
    repeated = len(items) - len(texts)
    for text in before:
        texts.setdefault(folded(text), text)
    return WrittenList(list(texts.values()), repeated)
