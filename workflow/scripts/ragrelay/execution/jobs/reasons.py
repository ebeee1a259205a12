"""Shorten Snakemake's reasons for running a job: the changed part of a param, a few files of a list."""

import re
from collections.abc import Collection

MOST_FILES = 3
AROUND = 40
"""Characters shown before and after the part of a param that changed."""
LONGEST = 120
"""Characters shown of a changed part."""
DIGEST = re.compile(r"['\"]?[0-9a-f]{16,64}['\"]?")
FILES = re.compile(r"((?:Missing output|Incomplete output|Updated input|Input) files[^:]*: )(.*)", re.DOTALL)


def shortened_reason(reason: str) -> str:
    """Shorten the file lists of a reason as Snakemake writes it."""
    parts = []
    for part in reason.split("; "):
        labelled = FILES.fullmatch(part)
        files = labelled[2].split(", ") if labelled else []
        if labelled and len(files) > MOST_FILES:
            part = f"{labelled[1]}{', '.join(files[:MOST_FILES])} and {len(files) - MOST_FILES} more"
        parts.append(part)
    return "; ".join(parts)


def changed_params(before: Collection[str], now: Collection[str]) -> str:
    """Describe how a job's params changed.

    Args:
        before: Values, as Snakemake records them, that only the last execution had.
        now: Values that only this execution has.

    Returns:
        The changed part of each value, with some text around it; digests of code come last, as `code`.
    """
    left, changes, code = sorted(now), [], False
    for old in sorted(before):
        new = max(left, key=lambda value: _shared(old, value), default="")
        if new and (2 * _shared(old, new) >= len(old) or (DIGEST.fullmatch(old) and DIGEST.fullmatch(new))):
            left.remove(new)
            if DIGEST.fullmatch(old):
                code = True
            else:
                changes.append(_change(old, new))
        else:
            changes.append(f"no longer {_cut(old)}")
    changes += [f"new {_cut(value)}" for value in left]
    return "; ".join([*changes, *(["code"] if code else [])])


def _shared(old: str, new: str) -> int:
    """Return the number of characters that two values share at their ends."""
    return sum(_ends(old, new))


def _ends(old: str, new: str) -> tuple[int, int]:
    begin = _begin(old, new)
    return begin, _begin(old[begin:][::-1], new[begin:][::-1])


def _begin(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _change(old: str, new: str) -> str:
    """Show the part in which two values differ, from the start of the word that it begins in to the end of its last."""
    begin, end = _ends(old, new)
    first = max(0, begin - AROUND)
    tail = old[len(old) - end :][:AROUND]
    changed = f"[{_cut(old[begin : len(old) - end])} → {_cut(new[begin : len(new) - end])}]"
    return f"{'…' if first else ''}{old[first:begin]}{changed}{tail}{'…' if end > AROUND else ''}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
