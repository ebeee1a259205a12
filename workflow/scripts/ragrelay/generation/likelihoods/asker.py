"""Look up a question's replies in the stores, and send the requests for missing replies to an engine."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypedDict

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.fingerprint import checked_start
from ragrelay.generation.generator import GENERATOR_KINDS, EngineInJob
from ragrelay.generation.likelihoods.continuations import without_chat
from ragrelay.generation.likelihoods.job import fill_likelihoods, missing_of
from ragrelay.generation.likelihoods.store import LikelihoodStore, decisive, text_store


class Receipt(TypedDict, total=False):
    """The receipt for a question's requests."""

    fingerprint: str
    """The fingerprint of the store with the replies."""
    words: Sequence[str]
    tokens: Mapping[str, Sequence[int]]
    spellings: Mapping[str, Sequence[str]]
    begins: Sequence[int] | str


class Asker(Protocol):
    """The interface of objects that send a question's requests to an engine, look up replies, or count requests."""

    generator: GeneratorEntry
    """The definition of the generator that gets the requests."""

    def likelihoods(self, asked: pl.DataFrame, chat: bool = True, certain: bool = True) -> dict[str, object]:
        """Request the log-probabilities of continuations, and return a receipt.

        ``asked``: columns prompt_id, prompt, system and token_ids (the continuation). For an endpoint, the columns
        spellings, begins and continuation replace token_ids. ``chat``: whether to send prompts as chat messages.
        ``certain``: False if the plan can only estimate the number of requests.
        """


class EngineAsker:
    """An asker that sends requests to an engine. The engine starts only if a reply is missing.

    ``fingerprint``: the likelihood fingerprint, which the model's files must match before and after the engine starts.
    """

    def __init__(self, generator: GeneratorEntry, fingerprint: str, cache_dir: str | Path, threads: int) -> None:
        self.generator, self.fingerprint, self.cache_dir = generator, fingerprint, Path(cache_dir)
        self.start = one_engine(generator, fingerprint, cache_dir, threads)
        """Returns the job's engine, given a definition and a window."""

    def likelihoods(self, asked: pl.DataFrame, chat: bool = True, certain: bool = True) -> dict[str, object]:
        """Compute missing likelihoods, add them to the store, and return a receipt. For the arguments, see Asker."""
        generator = self.generator if chat else without_chat(self.generator)
        store = LikelihoodStore(self.cache_dir, self.fingerprint) if chat else text_store(generator, self.cache_dir)
        return fill_likelihoods(asked, store, generator, self.start)


class StoreAsker:
    """An asker that only looks up stored replies. ``rule``: the rule that requests missing replies, for error messages.

    ``fingerprint`` names the likelihood store for prompts, and ``texts`` the store for texts without a chat template.
    """

    def __init__(
        self, generator: GeneratorEntry, fingerprint: str, texts: str, cache_dir: str | Path, rule: str
    ) -> None:
        self.generator, self.cache_dir, self.rule = generator, Path(cache_dir), rule
        self.fingerprint, self.texts = fingerprint, texts

    def likelihoods(self, asked: pl.DataFrame, chat: bool = True, certain: bool = True) -> dict[str, object]:
        """Return a receipt, or raise InputError if a likelihood isn't stored. For the arguments, see Asker."""
        store = LikelihoodStore(self.cache_dir, self.fingerprint if chat else self.texts)
        keyed, missing = missing_of(asked, store)
        if len(missing):
            raise self._lacking(store.folder, f"no likelihood for {len(missing)} of {len(keyed)} continuations")
        return {"asked": len(keyed), "cached": len(keyed), "made": 0, "fingerprint": store.folder.name}

    def start(self, definition: GeneratorEntry, window: int | None) -> NoReturn:
        """Raise InputError, because only the rule that sends the requests may start an engine."""
        raise self._lacking(self.cache_dir, "too few replies")

    def _lacking(self, place: Path, found: str) -> InputError:
        return InputError(place, found, f"all replies; rerun with --forcerun {self.rule}")


def one_engine(
    generator: GeneratorEntry, fingerprint: str, cache_dir: str | Path, threads: int
) -> Callable[[GeneratorEntry, int | None], EngineInJob]:
    """Return a function that starts an engine on the first call, and returns the same engine on later calls."""
    started: list[EngineInJob] = []

    def start(definition: GeneratorEntry, window: int | None) -> EngineInJob:
        if not started:

            def load() -> EngineInJob:
                kind: Any = GENERATOR_KINDS[definition["engine"]]
                engine: EngineInJob = kind.start(definition, window, threads)
                return engine

            started.append(checked_start(decisive(generator), fingerprint, load, cache_dir))
        return started[0]

    return start
