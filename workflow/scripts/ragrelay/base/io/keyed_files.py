"""Look up files by wildcard values, which are parsed from their paths by the patterns of execution/study/files.py."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

Key = dict[str, Any]
"""Value by wildcard: k and seed are integers, all others texts."""
NUMBERS = ("k", "seed")
WILDCARD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class KeyedFiles:
    """Distinct ``paths`` of a ``pattern``, such as ``<results>/{dataset}/runs/{retriever}.run.gz``, in their order.

    Only the part after ``<results>/`` is compared, since results may be anywhere. Raises ValueError for a path that
    doesn't match the pattern.
    """

    pattern: str
    paths: tuple[Path, ...]

    @property
    def keyed(self) -> list[tuple[Key, Path]]:
        """Every path with the values of its wildcards."""
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
        """Return the path by value of a wildcard, or by tuple of several. Raises ValueError if two have the same."""
        paths = {tuple(key[name] for name in names): path for key, path in self.keyed}
        if len(paths) < len(self.paths):
            raise ValueError(f"{len(self.paths)} files of {self.pattern}, but {len(paths)} by {', '.join(names)}")
        return paths if len(names) > 1 else {key[0]: path for key, path in paths.items()}

    def grouped(self, name: str) -> dict[Any, list[Path]]:
        """Return the paths by value of a wildcard, in their order."""
        groups: dict[Any, list[Path]] = {}
        for key, path in self.keyed:
            groups.setdefault(key[name], []).append(path)
        return groups

    def matching(self, **values: str | int) -> "KeyedFiles":
        """Return the files whose wildcards have these ``values``."""
        return replace(self, paths=tuple(path for key, path in self.keyed if key.items() >= values.items()))

    def of(self, key: Mapping[str, Any]) -> Path:
        """Return the path of the pattern filled from ``key``. Raises ValueError if it is not among the files."""
        filled = self._filled(key)
        paths = [path for path in self.paths if f"/{path.as_posix()}".endswith(f"/{filled}")]
        if len(paths) != 1:
            raise ValueError(f"{len(paths)} files {filled} among {len(self.paths)}")
        return paths[0]

    def _filled(self, key: Mapping[str, Any]) -> str:
        return WILDCARD.sub(lambda match: str(key[match[1]]), self.pattern.removeprefix("<results>/"))


def keyed_files(patterns: Mapping[str, str], files: Mapping[str, str | Iterable[str]]) -> dict[str, KeyedFiles]:
    """Return a job's inputs by name, for each name in ``patterns``. ``files`` has one or several paths by name."""
    return {name: of_pattern(pattern, files[name]) for name, pattern in patterns.items()}


def of_pattern(pattern: str, files: str | Iterable[str]) -> KeyedFiles:
    """Return KeyedFiles of ``pattern`` for a path or several ``files``. A path may occur several times."""
    paths = [files] if isinstance(files, str) else files
    return KeyedFiles(pattern, tuple(map(Path, dict.fromkeys(paths))))
