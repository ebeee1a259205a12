"""Generate and store nugget lists, and read the nugget table from the stores."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import EngineInJob
from ragrelay.generation.job import generate_answers
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.likelihoods.job import look_up
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.likelihoods.words import first_tokens, token_table, word_shares
from ragrelay.generation.requests import tokenised, window_of
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.prompting.layout import Layout, prompt_id
from ragrelay.prompting.templates import Template
from ragrelay.questions.nuggets.prompts import NuggetTemplate
from ragrelay.questions.nuggets.writing import Limits, Lists, Topic, Written, keys
from ragrelay.scoring.nugget_lists import IMPORTANCE, SCHEMA

NUGGET = ["qid", "nugget"]
UNCUT = Layout(Template(), Path(), {})
"""A layout that never shortens prompts, so that a prompt that is too long is an error."""
SUMS = ("asked", "cached", "made", "prompt_tokens", "cached_tokens", "answer_tokens")
Start = Callable[[GeneratorEntry, int | None], EngineInJob]


class Stores:
    """Answer stores for two attempts at nugget lists; if ``start`` is None, all lists must already be stored."""

    def __init__(self, definitions: Sequence[GeneratorEntry], cache_dir: str | Path, start: Start | None) -> None:
        self.definitions, self.start = definitions, start
        self.stores = [
            AnswerStore(cache_dir, fingerprint(definition, cache_dir=cache_dir)) for definition in definitions
        ]
        self.receipts: list[dict[str, Any]] = []

    def ask(self, asked: pl.DataFrame) -> dict[str, Written]:
        """Return the reply to each prompt in ``asked`` (writing.ASKED), keyed by prompt_id; retry truncated lists.

        Raises InputError if a list isn't stored and ``start`` is None.
        """
        lists_written: dict[str, Written] = {}
        wanted = keys(asked)
        for tries, (definition, store) in enumerate(zip(self.definitions, self.stores, strict=True), start=1):
            if self.start is not None and len(wanted):
                self._check_room(wanted.join(store.held(wanted), on=KEY, how="anti"))
                self.receipts.append(generate_answers(wanted, store, definition, UNCUT, self.start))
            held = written(store, wanted, tries)
            if len(held) < len(wanted):
                lacking = f"no list for {len(wanted) - len(held)} of {len(wanted)} prompts"
                raise InputError(store.folder, lacking, "all lists; rerun with --forcerun write_nuggets")
            lists_written |= held
            wanted = wanted.filter(pl.col("prompt_id").is_in([name for name in held if held[name].cut]))
        return lists_written

    def _check_room(self, asked: pl.DataFrame) -> None:
        """Raise InputError if the window is too small for a second attempt, before any list is generated."""
        if len(asked):
            again = self.definitions[-1]
            deque(tokenised(asked, again, window_of(again), UNCUT), maxlen=0)


def written(store: AnswerStore, asked: pl.DataFrame, tries: int) -> dict[str, Written]:
    """Return the stored replies to ``asked`` (prompt_id, seed), keyed by prompt_id."""
    rows = store.look_up(asked.select(KEY), ["answer", "finish_reason"])
    columns = rows.select("prompt_id", "answer", "finish_reason")
    return {name: Written(answer, tries, reason == "length") for name, answer, reason in columns.iter_rows()}


def write_nuggets(
    topics: Sequence[Topic], template: NuggetTemplate, limits: Limits, asker: EngineAsker
) -> dict[str, Any]:
    """Generate nugget lists for ``topics``, request likelihoods of the importance words, and return the receipt.

    The receipt contains totals over all windows (SUMS), the counts from Lists, the token ids of the importance words,
    the receipt for the likelihoods, and the seconds taken.
    """
    began, generator = time.monotonic(), asker.generator
    tokens = importance_tokens(generator)
    definitions = limits.definitions(generator)
    stores = Stores(
        definitions, asker.cache_dir, lambda definition, window: asker.start(generator, window).asked_with(definition)
    )
    lists = Lists(topics, template, limits)
    lists.write(stores.ask)
    scored = asker.likelihoods(importance_asked(lists, template, tokens))
    sums = {name: sum(receipt.get(name, 0) for receipt in stores.receipts) for name in SUMS}
    totals = {"tokens": tokens, "likelihoods": scored, "seconds": round(time.monotonic() - began, 2)}
    return {**sums, "counts": lists.counts, **totals}


def view_nuggets(
    topics: Sequence[Topic],
    template: NuggetTemplate,
    limits: Limits,
    generator: GeneratorEntry,
    likelihoods: str,
    cache_dir: str | Path,
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the stored nugget lists for ``topics`` (nugget_lists.COLUMNS), and the counts (see Lists).

    A nugget is vital if the word "vital" is likelier than the word "okay".
    """
    lists = Lists(topics, template, limits)
    lists.write(Stores(limits.definitions(generator), cache_dir, None).ask)
    asked = importance_asked(lists, template, importance_tokens(generator))
    logprobs = look_up(asked, LikelihoodStore(cache_dir, likelihoods))
    of_vital = pl.col("shares").list.first()
    table = word_shares(logprobs, list(IMPORTANCE), [*NUGGET, "text"]).with_columns(
        of_vital.alias("vital_probability"), (of_vital > 0.5).alias("vital")
    )
    return table.select(*(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()), "mass"), lists.counts


def importance_tokens(generator: GeneratorEntry) -> dict[str, list[int]]:
    """Return the token ids of "vital" and "okay"; raise InputError if the tokenizer can't distinguish the words."""
    tokenizer = load_tokenizer(generator)
    return first_tokens(tokenizer, list(IMPORTANCE), f"tokenizer of model {generator['model']!r}")


def importance_asked(lists: Lists, template: NuggetTemplate, tokens: Mapping[str, Sequence[int]]) -> pl.DataFrame:
    """Return requests to rate nuggets' importance: one row per nugget and reply word, with prompt and token ids."""
    rows = []
    for topic in lists.topics:
        for number, text in enumerate(lists.texts[topic.qid], start=1):
            prompt = template.ask_importance(topic.query, text)
            rows.append((topic.qid, number, text, prompt_id(prompt, template.system), prompt, template.system))
    schema = {"qid": pl.String, "nugget": pl.Int64} | dict.fromkeys(
        ("text", "prompt_id", "prompt", "system"), pl.String
    )
    questions = pl.DataFrame(rows, schema=schema, orient="row")
    return questions.join(token_table(tokens), how="cross", maintain_order="left_right")
