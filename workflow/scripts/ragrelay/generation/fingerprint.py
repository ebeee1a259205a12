"""Compute a generator's fingerprint: a hash of everything that determines an answer except its prompt and seed."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.io.part_links import link_parts
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import GENERATOR_KINDS, PENALTIES

Started = TypeVar("Started")

# Keys added later. At their defaults, they don't change the fingerprint, so older answers can still be used.
LATER = ("chat", "chat_template_kwargs", "date", *PENALTIES)
# Stores with one folder per fingerprint.
STORES = ("answers", "likelihoods")


def fingerprint(generator: GeneratorEntry, folder: str | Path = ".", cache_dir: str | Path | None = None) -> str:
    """Return a hash (16 hex digits) of everything that affects an answer's text except prompt and seed.

    A local model, adapter or tokenizer is identified by a hash of its files, so that answers stay valid if the folder
    moves. A model from a hub is identified by id and revision. Each engine chooses the configuration keys to include.
    The prompt template isn't included, because prompts are part of an answer's key. ``thinking`` is included if
    thoughts are generated in separate requests. If earlier versions stored the same answers in ``cache_dir`` under a
    different fingerprint, the earlier stores' parts are linked into the current stores.
    """
    engine = GENERATOR_KINDS[generator["engine"]]
    defaults = {key: engine.model_fields[key].default for key in LATER if key in engine.model_fields}
    later = {key: generator[key] for key, value in defaults.items() if generator.get(key, value) not in (value, None)}  # type: ignore[literal-required]
    decisive = {**later, **engine.decisive(generator, Path(folder), Path(cache_dir) if cache_dir else None)}
    current = value_hash(decisive)
    if cache_dir and (values := engine.earlier(generator, Path(folder))):
        earlier = value_hash({**decisive, **values})
        for kind in STORES:
            link_parts(Path(cache_dir, kind, earlier), Path(cache_dir, kind, current), "cpu")
    return current


def checked_start(
    generator: GeneratorEntry, expected: str, start: Callable[[], Started], cache_dir: str | Path | None = None
) -> Started:
    """Call ``start``, and check before and afterwards that the generator's fingerprint is still ``expected``.

    Raises InputError if the fingerprint differs. Without the check, a study could mix answers from two models if the
    model's files change meanwhile. File hashes are cached, so the check only compares sizes and modification times.
    """
    _check_model(generator, expected, cache_dir)
    started = start()
    _check_model(generator, expected, cache_dir)
    return started


def _check_model(generator: GeneratorEntry, expected: str, cache_dir: str | Path | None) -> None:
    current = fingerprint(generator, cache_dir=cache_dir)
    if current != expected:
        changed = f"files that changed after the study was started (fingerprint {current})"
        raise InputError(f"model {generator['model']}", changed, f"fingerprint {expected}; restart the study")
