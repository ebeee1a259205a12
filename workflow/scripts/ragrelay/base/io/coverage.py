"""Check that a user's file contains the data that a study needs, with counts and warnings of what is missing."""

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
    """Return a count (what, count, of) of the needed items that are missing from the user's file ``place``.

    ``what``: plural nouns for the needed and for the missing items. ``given``: what the file contains instead, for the
    error message. Raises InputError if none of the needed items was ``found``.
    """
    if needed and not found:
        raise InputError(place, f"0 of {needed:,} {what[0]} ({given})", expected)
    return {"what": what[1], "count": needed - found, "of": {"file": str(place), "needed": needed}}


def data_warnings(counts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return warnings about doubtful data, for the top of a page. ``counts``: the content of left_out.json.

    They consist of coverage_warnings, the warnings in ``counts`` (one per dataset and kind of count), and the sentences
    in ``counts``.
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
    """Format a ``count`` from left_out.json, followed by the total if its ``detail`` has one."""
    return f"{count:,} of {detail['total']:,}" if "total" in detail else f"{count:,}"


def coverage_warnings(counts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return one sentence for each dataset and file with less than ENOUGH of the data that the study could use.

    ``counts``: the content of left_out.json. Counts that weren't created by count_missing are ignored.
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
