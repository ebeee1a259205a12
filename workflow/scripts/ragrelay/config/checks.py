"""Check what the JSON Schema can't express: file names, paths, the cache folder, and the budget's units."""

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.grid import GridSettings
from ragrelay.generation.generator import GENERATOR_KINDS

VARIABLE = re.compile(r"\$\w|\$\{")
"""A shell variable in a path. ragrelay doesn't expand shell variables."""
TEMPORARY_BYTES = 1 << 16


def check_file_names(grid: GridSettings) -> None:
    """Raise InputError if two sections' names, joined with ``_``, would give the same file name."""
    sections_by_name: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for names in product(grid.datasets, grid.generators, grid.scorers):
        sections_by_name["_".join(names)].append(names)
    for joined, sections in sections_by_name.items():
        if len(sections) > 1:
            both = " and ".join(" × ".join(names) for names in sections)
            raise InputError(
                "config key 'grid'",
                f"{both}, which both join to {joined!r}",
                "names that still differ when joined",
            )


def expanded(key: str, path: str) -> str:
    """Expand ``~`` in ``path``, the value of ``key``. Raises InputError for an unknown user or a shell variable."""
    if VARIABLE.search(path):
        raise InputError(f"config key {key!r}", repr(path), "a path without shell variables")
    try:
        return str(Path(path).expanduser()) if path.startswith("~") else path
    except RuntimeError:
        raise InputError(f"config key {key!r}", repr(path), "the home directory of an existing user") from None


def check_pathvars(paths: Mapping[str, str], study: str, folder: Path) -> None:
    """Raise InputError if Snakemake would create a folder named ``~`` or ``$HOME``, or if a file is in the way.

    ``paths``: folders that replace the defaults for results and logs. ``folder``: the base folder for relative paths.
    """
    for name, path in {"results": f"results/{study}", "logs": f"logs/{study}", **paths}.items():
        place = f"config key 'pathvars.{name}'"
        if expanded(f"pathvars.{name}", path) != path:
            raise InputError(place, repr(path), "a path that doesn't begin with ~")
        _nearest_folder(place, folder / path, "a folder, or a path where one can be created")


def check_temporary_folder() -> None:
    """Raise InputError if the temporary folder is full or can't be written to.

    Without this check, Snakemake would fail with a traceback. Snakemake may use TMP or TMPDIR, so both are checked.
    """
    variables = {name: os.environ[name] for name in ("TMPDIR", "TMP") if os.environ.get(name)}
    for name, folder in variables.items() or [("TMPDIR", "/tmp")]:
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(bytes(TEMPORARY_BYTES))
        except OSError as error:
            found = f"{folder if variables else f'no value, so {folder} is used'} ({error.strerror})"
            raise InputError(f"environment variable {name}", found, "a writable folder with free space") from None


def check_cache_folder(folder: Path, read_only: bool) -> None:
    """Raise InputError if ``folder`` can't be created or written to. With ``read_only``, the folder must exist."""
    path, place, expected = folder.absolute(), "config key 'cache_dir'", "a writable folder"
    if read_only:
        if not path.is_dir():
            raise InputError(place, f"no folder {folder}", "an existing folder, because cache_mode is read-only")
        return
    nearest = _nearest_folder(place, folder, expected)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(place, f"{folder}, but {nearest} isn't writable", expected)


def _nearest_folder(place: str, folder: Path, expected: str) -> Path:
    """Return ``folder`` or its nearest existing parent. Raises InputError if that is a file."""
    path = folder.absolute()
    nearest = next(parent for parent in (path, *path.parents) if os.access(parent, os.F_OK))
    if not nearest.is_dir():
        raise InputError(place, f"{folder}, but {nearest.name} is a file", expected)
    return nearest


def check_budget_units(budget: Mapping[str, float], generators: Iterable[Mapping[str, object]]) -> None:
    """Raise InputError if the budget limits GPU-hours but every generator in the study runs on a server."""
    if "gpu_hours" in budget and not any(GENERATOR_KINDS.of(generator).gpus() for generator in generators):
        found = "a limit on GPU-hours, although all generators are endpoints, which use no GPU-hours"
        raise InputError("config key 'budget.gpu_hours'", found, "key budget.tokens")
