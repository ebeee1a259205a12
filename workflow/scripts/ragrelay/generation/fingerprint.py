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
    """Return 16 hex digits that change with everything that affects an answer's text.

    Models, adapters and tokenizers are identified by a hash of their files (local folder) or by id and revision (hub),
    so answers stay valid if a folder moves. The engine decides which keys count. The prompt template doesn't count,
    because prompts are part of an answer's key. ``thinking`` counts if thoughts are separate requests
    (GeneratorKind.thought_budget). If earlier versions gave the same answers another fingerprint
    (GeneratorKind.earlier), the parts that those versions wrote to ``cache_dir`` are linked into the current stores.
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
    """Call ``start``, and check before and afterwards that the model's files still have the ``expected`` fingerprint.

    Raises InputError if the fingerprint differs. Without the check, a model that changed during a study would mix two
    models' answers. File hashes are cached, so the check only compares sizes and modification times.
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
