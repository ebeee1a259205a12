"""What is read and checked before any job: the configuration, and the generators' fingerprints."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragrelay.config.checks import check_no_secret
from ragrelay.config.study import Study
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.io.yaml_keys import check_keys_once


def start(
    config: Mapping[str, Any], files: Iterable[str | Path] = (), prompts: Sequence[str | Path] = ("config/prompts",)
) -> tuple[Study, dict[str, str]]:
    """The study of ``config``, read from ``files``, and the fingerprint of each of its generators.

    ``prompts``: folders of templates. Raises InputError for the first thing that can't work.
    """
    check_no_secret(config)
    for path in files:
        check_keys_once(path)
    study = Study(config, prompts=prompts)
    names = study.grid["generators"]
    return study, {name: fingerprint(study.generator(name), cache_dir=study.cache_dir) for name in names}
