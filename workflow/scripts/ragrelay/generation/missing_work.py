"""Count the keys that a job still has to compute, so that GPUs are requested only if needed.

A small job first writes the count to a temporary file. This file is the main job's input ``missing`` and determines the
job's resources. To count, the small job runs the main job's code up to the point where the engine would start.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NoReturn, TypeVar

import polars as pl

from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.io.missing_counts import check_counted
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.base.vocabulary.study_file import MISSING_KEYS
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.likelihoods.continuations import without_chat
from ragrelay.generation.likelihoods.job import missing_of
from ragrelay.generation.likelihoods.store import LikelihoodStore, text_store

Engine = TypeVar("Engine")


class NoEngineError(InputError):
    """Raised instead of starting an engine. ``missing``: the number of keys that the engine would compute."""

    def __init__(self, missing: int = 1) -> None:
        super().__init__("a job that counts", f"{missing} missing keys", "no start of an engine")
        self.missing = missing


def no_engine(generator: GeneratorEntry, window: int | None) -> NoReturn:
    """Raise NoEngineError instead of starting an engine, in a job that only counts missing keys."""
    raise NoEngineError


def count_missing(job: Callable[[], object], number: Callable[[], int] | None = None) -> dict[str, int]:
    """Count the keys that ``job`` would compute, by running it without an engine; return the count file's content.

    ``job`` must start its engine with no_engine. ``number`` returns the count; by default, it comes from NoEngineError.
    After a RequestError the count is 0, because the main job will end with that error before it needs an engine.
    """
    try:
        job()
    except NoEngineError as needed:
        return {MISSING_KEYS: number() if number else needed.missing}
    except RequestError:
        pass
    return {MISSING_KEYS: 0}


class _CountingAsker(EngineAsker):
    """Counts missing likelihoods instead of starting an engine."""

    def __init__(self, asker: EngineAsker) -> None:
        super().__init__(asker.generator, asker.fingerprint, asker.cache_dir, 1)
        self.start = no_engine

    def likelihoods(self, asked: pl.DataFrame, chat: bool = True, certain: bool = True) -> dict[str, object]:
        try:
            return super().likelihoods(asked, chat, certain)
        except NoEngineError:
            of_texts = text_store(without_chat(self.generator), self.cache_dir)
            store = LikelihoodStore(self.cache_dir, self.fingerprint) if chat else of_texts
            raise NoEngineError(len(missing_of(asked, store)[1])) from None


def count_requests(
    ask_parts: Callable[..., object],
    question: str,
    inputs: Mapping[str, object],
    parts: Sequence[Mapping[str, object]],
    asker: EngineAsker,
) -> dict[str, int]:
    """Count the keys that ``ask_parts`` would compute for ``parts``; return the count file's content.

    If some of a part's requests depend on missing replies to earlier requests, only the earlier requests are counted.
    """
    counting = _CountingAsker(asker)
    counts = [count_missing(partial(ask_parts, question, inputs, [part], counting)) for part in parts]
    return {MISSING_KEYS: sum(count[MISSING_KEYS] for count in counts)}


def checked_engine(
    start: Callable[[GeneratorEntry, int | None], Engine], counts: Iterable[str], gpus: int
) -> Callable[[GeneratorEntry, int | None], Engine]:
    """Return a function that first checks the counts of missing keys, then starts an engine with ``start``."""

    def checked(generator: GeneratorEntry, window: int | None) -> Engine:
        check_counted(counts, gpus)
        return start(generator, window)

    return checked
