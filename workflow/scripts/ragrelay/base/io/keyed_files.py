"""Look up files by the wildcard values in their paths. The path patterns are declared in execution/study/files.py."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Key = dict[str, Any]
"""Values by wildcard. Values of ``k`` and ``seed`` are integers; all others are strings."""
NUMBERS = ("k", "seed")
WILDCARD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class KeyedFiles:
    """A set of files that can be looked up by the wildcard values in their paths."""

    pattern: str
    """A path pattern with wildcards, such as ``<results>/{dataset}/runs/{retriever}.run.gz``.

    Only the part after ``<results>/`` is matched, because the results folder may be anywhere."""
    paths: tuple[Path, ...]
    """The distinct paths that match ``pattern``. All methods keep the order of these paths."""

    @property
    def keyed(self) -> list[tuple[Key, Path]]:
        """The paths, as pairs (wildcard values, path). ``k`` and ``seed`` are integers; all others are strings.

        Raises:
            ValueError: A path doesn't match the pattern.
        """
        parts = WILDCARD.split(self.pattern.removeprefix("<results>/"))
        texts = [f"(?P<{part}>[^/]+)" if place % 2 else re.escape(part) for place, part in enumerate(parts)]
        whole = re.compile(f"(?:.*/)?{''.join(texts)}")
        keyed = []
        for path in self.paths:
            values = whole.fullmatch(path.as_posix())
            if values is None:
                raise ValueError(f"{path} does not match the pattern {self.pattern}")
            keyed.append(({n: int(v) if n in NUMBERS else v for n, v in values.groupdict().items()}, path))
        return keyed

    def by(self, *names: str) -> dict[Any, Path]:
        """Map wildcard values to paths.

        Args:
            *names: One or more wildcards.

        Returns:
            A mapping from the wildcard's values (or from tuples of values, if you name several wildcards) to paths.

        Raises:
            ValueError: Two paths have the same values for these wildcards, or a path doesn't match the pattern.
        """
        paths = {tuple(key[name] for name in names): path for key, path in self.keyed}
        if len(paths) < len(self.paths):
            raise ValueError(f"{len(self.paths)} files of {self.pattern}, but {len(paths)} by {', '.join(names)}")
        return paths if len(names) > 1 else {key[0]: path for key, path in paths.items()}

    def grouped(self, name: str) -> dict[Any, list[Path]]:
        """Group the paths by a wildcard's value.

        Args:
            name: The wildcard's name.

        Returns:
            A mapping from each value of the wildcard to the paths with this value, in order.

        Raises:
            ValueError: A path doesn't match the pattern.
        """
        groups: dict[Any, list[Path]] = {}
        for key, path in self.keyed:
            groups.setdefault(key[name], []).append(path)
        return groups

    def matching(self, **values: str | int) -> "KeyedFiles":
        """Select the files whose wildcards have the given values.

        Args:
            **values: The required values, by wildcard.

        Returns:
            The selected files, possibly none.

        Raises:
            ValueError: A path doesn't match the pattern.
        """
        return replace(self, paths=tuple(path for key, path in self.keyed if key.items() >= values.items()))

    def of(self, key: Mapping[str, Any]) -> Path:
        """Look up the file for one set of wildcard values.

        Args:
            key: A value for each wildcard in the pattern. Other keys are ignored.

        Returns:
            The path.

        Raises:
            ValueError: The filled-in pattern matches no path or several paths.
        """
        filled = self._filled(key)
        paths = [path for path in self.paths if f"/{path.as_posix()}".endswith(f"/{filled}")]
        if len(paths) != 1:
            raise ValueError(f"{len(paths)} files {filled} among {len(self.paths)}")
        return paths[0]

    def _filled(self, key: Mapping[str, object]) -> str:
        return WILDCARD.sub(lambda match: str(key[match[1]]), self.pattern.removeprefix("<results>/"))


def keyed_files(patterns: Mapping[str, str], files: Mapping[str, str | Iterable[str]]) -> dict[str, KeyedFiles]:
    """Prepare a job's input files for lookup by wildcard values.

    Args:
        patterns: Path patterns by input name.
        files: One or more paths for each input name. Repeated paths are ignored.

    Returns:
        A mapping from each input name in ``patterns`` to the input's files.
    """
    return {name: of_pattern(pattern, files[name]) for name, pattern in patterns.items()}


def of_pattern(pattern: str, files: str | Iterable[str]) -> KeyedFiles:
    """Create a KeyedFiles from ``pattern`` and one or more ``files``. Repeated paths are ignored."""
    paths = [files] if isinstance(files, str) else files
    return KeyedFiles(pattern, tuple(map(Path, dict.fromkeys(paths))))
