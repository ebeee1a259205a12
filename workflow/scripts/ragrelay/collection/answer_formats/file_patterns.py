"""Find answer files that match a path pattern such as ``{retriever}_{k}.jsonl``, and read values from the paths."""

import glob
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragrelay.base.errors import InputError
from ragrelay.base.io.compressed_files import COMPRESSED, plain_name
from ragrelay.base.settings import file_of
from ragrelay.base.vocabulary.names import NO_ORDERING
from ragrelay.base.vocabulary.orderings import ORDERINGS

PLACEHOLDERS = ("dataset", "retriever", "ordering", "k", "seed")
NUMBERS = ("k", "seed")
TEXTS = (".jsonl", ".json", ".ndjson", ".csv", ".tsv")
_ORDERING = "|".join([NO_ORDERING, *ORDERINGS, r"permutation_\d+"])
_NAMED = re.compile(r"\{(\w*)\}")


class AnswerFile(NamedTuple):
    """A file with answers, and the values that its name contains: any of retriever, ordering, k and seed."""

    path: Path
    values: dict[str, Any]


def check_pattern(place: str, pattern: str, known: Sequence[str] = PLACEHOLDERS) -> None:
    """Raise InputError if ``pattern`` has an unsupported extension, or if a name in braces is repeated or unknown."""
    if not (plain_name(pattern).endswith(TEXTS) or pattern.endswith(".parquet")):
        texts, compressed = (f"{', '.join(ends[:-1])} or {ends[-1]}" for ends in (TEXTS, tuple(COMPRESSED)))
        ends = f".parquet, or in {texts}, optionally followed by {compressed}"
        raise InputError(place, repr(pattern), f"a file name ending in {ends}")
    if re.search(r"[\0{}]", _NAMED.sub("", pattern)):
        raise InputError(place, repr(pattern), "a path without NUL characters, and with braces only around names")
    names = _NAMED.findall(pattern)
    for name in names:
        if name not in known:
            expected = "only these names in braces: " + ", ".join(known)
            raise InputError(place, f"{{{name}}} in {pattern!r}", expected)
        if names.count(name) > 1:
            raise InputError(place, f"{{{name}}} twice in {pattern!r}", "each name at most once")


def answer_files(pattern: str, dataset: str, folder: Path = Path()) -> list[AnswerFile]:
    """Return the existing files that match ``pattern`` for ``dataset``, sorted by path.

    If ``pattern`` is a relative path, it and the returned paths are relative to ``folder``.
    """
    own = Path(file_of(pattern, dataset)).as_posix()
    parts = _NAMED.split(own)
    if len(parts) == 1:
        return [AnswerFile(Path(own), {})] if (folder / own).is_file() else []
    whole = re.compile("".join(_part(text) if place % 2 else re.escape(text) for place, text in enumerate(parts)))
    any_name = "".join("*" if place % 2 else glob.escape(text) for place, text in enumerate(parts))
    anchor = Path(own).anchor
    files = []
    for path in sorted((Path(anchor) if anchor else folder).glob(any_name.removeprefix(anchor))):
        name = path if anchor else path.relative_to(folder)
        if (match := whole.fullmatch(name.as_posix())) and path.is_file():
            values = {key: int(text) if key in NUMBERS else text for key, text in match.groupdict().items()}
            files.append(AnswerFile(name, values))
    return files


def _part(name: str) -> str:
    """Return the regular expression for a name in braces. It lists all orderings, as retriever names may have dots."""
    if name in NUMBERS:
        return f"(?P<{name}>[0-9]+)"
    return f"(?P<{name}>{_ORDERING})" if name == "ordering" else f"(?P<{name}>[^/]+?)"
