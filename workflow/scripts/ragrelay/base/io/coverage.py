"""Count the data missing from users' files, and write warnings if too much is missing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError

ENOUGH = 0.5
"""The page warns if a file has less than this share of the data that the study needs."""

NAMED = ("generator", "scorer", "source", "judge", "retriever")
"""The keys in a count's ``detail`` whose values a warning mentions."""


def count_missing(
    place: str | Path, found: int, needed: int, what: tuple[str, str], given: str, expected: str
) -> dict[str, object]:
    """Count the items missing from the user's file ``place``. Returns a mapping with the keys what, count and of.

    ``what``: plural nouns for the needed and the missing items. ``given``: a phrase about the file's content, for the
    error message. Raises InputError if all needed items are missing.
    """
    if needed and not found:
        raise InputError(place, f"none of the {what[0]} ({given})", expected)
    return {"what": what[1], "count": needed - found, "of": {"file": str(place), "needed": needed}}


def data_warnings(counts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the warnings about doubtful data, which appear at the top of a page.

    ``counts``: the content of left_out.json. The order is: files with too little data, rows with the key ``warning``
    (identical warnings for a dataset are merged), and rows with the key ``sentence``.
    """
    counts = list(counts)
    warned: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in counts:
        if "warning" in row:
            about = row.get("detail") or {}
            whose = ", ".join(about[name] for name in NAMED if name in about)
            number = of_total(row["count"], about) + (f" ({whose})" if whose else "")
            warned[row["dataset"], row["what"], row["warning"]].append(number)
    sentences = [
        f"{dataset}: {what}: {', '.join(numbers)}; {warning}." for (dataset, what, warning), numbers in warned.items()
    ]
    told = [
        f"{row['dataset']}, {row['detail']['retriever']}: {row['sentence']}." for row in counts if "sentence" in row
    ]
    return [*coverage_warnings(counts), *sentences, *told]


def of_total(count: int, detail: Mapping[str, object]) -> str:
    """Format a ``count`` from left_out.json, followed by "of" and the total if ``detail`` contains a total."""
    return f"{count:,} of {detail['total']:,}" if "total" in detail else f"{count:,}"


def coverage_warnings(counts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a warning for each file that contains less than half (ENOUGH) of the data that is needed for a dataset.

    ``counts``: the content of left_out.json. Only counts returned by count_missing are used.
    """
    lacking: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in counts:
        about = row.get("detail") or {}
        if "needed" in about and row["count"] > (1 - ENOUGH) * about["needed"]:
            lacking[row["dataset"], about["file"]].append(f"{row['count']:,} of {about['needed']:,} {row['what']}")
    return [
        f"{dataset}: {file} has less than half of what the study could use: {'; '.join(parts)}."
        for (dataset, file), parts in lacking.items()
    ]
