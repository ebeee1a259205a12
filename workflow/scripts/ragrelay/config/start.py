"""Read and check the configuration, and compute the generators' fingerprints, before any job runs."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import yaml

from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import VARIABLE
from ragrelay.base.io.secret_values import check_no_secret
from ragrelay.base.io.workflow_files import with_own_files
from ragrelay.base.io.yaml_keys import read_yaml
from ragrelay.base.models.staging import VARIABLE as STAGED_IN
from ragrelay.base.public_names import check_extensions
from ragrelay.config.study import KINDS, Study
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import GENERATOR_KINDS, is_asked
from ragrelay.generation.likelihoods.store import LikelihoodStore, likelihood_fingerprint
from ragrelay.generation.store import AnswerStore

StudyType = TypeVar("StudyType", bound=Study)


def start(
    config: Mapping[str, object],
    files: Iterable[str | Path] = (),
    prompts: Sequence[str | Path] = ("config/prompts",),
    of: type[StudyType] = Study,  # type: ignore[assignment]
) -> tuple[StudyType, dict[str, str]]:
    """Return the study described by ``config`` (read from ``files``), and the fingerprints of the grid's generators.

    ``prompts``: folders with templates. Passes ``cache_mode`` and ``stage_models`` on to jobs as environment variables.
    Raises InputError for the first mistake in the configuration.
    """
    with _path_errors():
        for path in files:
            # Read only to find errors: Snakemake reads the values itself and uses the last of repeated keys. JSON may
            # not be YAML.
            with suppress(yaml.YAMLError):
                read_yaml(path)
        check_extensions()
        check_no_secret(config)
        return _started(config, prompts, of)


def with_own_kinds(config: Mapping[str, Any], given: Mapping[str, Any], catalogue: str | Path) -> dict[str, Any]:
    """Return ``config``, with the catalogue's keys removed from entries whose kind is changed in ``given``.

    Snakemake merges the file ``catalogue`` with ``given`` (the overlays and the command line) key by key. An overlay
    with ``e5: {kind: run, path: …}`` would otherwise keep the catalogue's key ``model``.
    """
    before = read_yaml(catalogue) if Path(catalogue).is_file() else {}
    replaced = dict(config)
    for section, kinds in KINDS.items():
        both = given.get(section), before.get(section)
        entries, earlier = (each if isinstance(each, Mapping) else {} for each in both)
        for name, entry in entries.items():
            was, kind = earlier.get(name), entry.get(kinds.selector) if isinstance(entry, Mapping) else None
            if kind is not None and isinstance(was, Mapping) and kind != was.get(kinds.selector):
                replaced[section] = {**replaced[section], name: entry}
    return replaced


@contextmanager
def _path_errors() -> Iterator[None]:
    """Turn a system error about a path, such as a path that is too long, into InputError."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise InputError(f"path {str(error.filename)[:80]!r}", str(error.strerror), "a readable path") from None


def _started(
    config: Mapping[str, object], prompts: Sequence[str | Path], of: type[StudyType]
) -> tuple[StudyType, dict[str, str]]:
    study = of(with_own_files(config), prompts=prompts)
    os.environ[VARIABLE] = study.settings.cache_mode
    os.environ[STAGED_IN] = study.config.get("stage_models", "")
    definitions = {name: study.generator(name) for name in study.grid.generators}
    hashed = {name: fingerprint(generator, cache_dir=study.cache_dir) for name, generator in definitions.items()}
    for name, generator in definitions.items():
        # The endpoint may be down if all the study's answers are already in the store.
        if not AnswerStore(study.cache_dir, hashed[name]).folder.is_dir():
            GENERATOR_KINDS[generator["engine"]].check_address(generator)
    for name in study.selected()["generators"]:
        judge = study.generator(name)
        if name not in definitions and is_asked(judge) and not GENERATOR_KINDS[judge["engine"]].in_job:
            store = LikelihoodStore(study.cache_dir, likelihood_fingerprint(judge, study.cache_dir))
            if not store.folder.is_dir():
                GENERATOR_KINDS[judge["engine"]].check_address(judge)
    return study, hashed
