"""Shorten Snakemake's explanations of why a job runs: keep only changed parts of params and the first few files."""

import re
from collections.abc import Collection
from os.path import commonprefix

AROUND, LONGEST = 40, 120
"""Maximum number of characters to show before and after a param's changed part, and of the part itself."""
DIGEST = re.compile(r"['\"]?[0-9a-f]{16,64}['\"]?")
FILES = re.compile(
    r"((?:Missing output|Incomplete output|Updated input|Input) files[^:;]*: (?:[^,;]+, ){2}[^,;]+), ([^;]+)"
)
"""Matches a list of more than three files in a reason."""


def shortened_reason(reason: str) -> str:
    """Shorten each list of files in ``reason`` to the first three files and the number of other files."""
    return FILES.sub(lambda found: f"{found[1]} and {found[2].count(', ') + 1} more", reason)


def changed_params(before: Collection[str], now: Collection[str]) -> str:
    """Describe how a job's params changed.

    Args:
        before: Param values that only the previous execution had, as Snakemake recorded them.
        now: Param values that are new in this execution.

    Returns:
        The changed part of each value with some surrounding text. Changed code digests come last, as `code`.
    """
    olds, left = (sorted(value for value in values if not DIGEST.fullmatch(value)) for values in (before, now))
    changes = []
    for old in olds:
        shared = {new: _ends(old, new) for new in left}
        new = max(shared, key=lambda value: len("".join(shared[value])), default="")
        begin, end = shared.get(new, ("", ""))
        if 2 * len(begin + end) < len(old):
            changes.append(f"no longer {_cut(old)}")
            continue
        left.remove(new)
        parts = (_cut(value[len(begin) : len(value) - len(end)]) for value in (old, new))
        head, tail = "…" * (len(begin) > AROUND), "…" * (len(end) > AROUND)
        changes.append(f"{head}{begin[-AROUND:]}[{' → '.join(parts)}]{end[:AROUND]}{tail}")
    code = ["code"] if any(map(DIGEST.fullmatch, [*before, *now])) else []
    return "; ".join([*changes, *(f"new {_cut(value)}" for value in left), *code])


def _ends(old: str, new: str) -> tuple[str, str]:
    """Return the beginning and the end that both values share."""
    begin = commonprefix([old, new])  # noqa: RUF071  (texts, not paths)
    return begin, commonprefix([old[len(begin) :][::-1], new[len(begin) :][::-1]])[::-1]  # noqa: RUF071


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
