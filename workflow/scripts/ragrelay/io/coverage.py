"""Compare a user's file with what a study needs: count what is missing, warn if much is, refuse if everything is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError

ENOUGH = 0.5
"""A page warns where a file has less than this share."""


def count_missing(
    place: str | Path, found: int, needed: int, what: tuple[str, str], given: str, expected: str
) -> dict[str, Any]:
    """Return how many of ``needed`` things the user's file at ``place`` does not have, to be shown (what, count, of).

    ``what``: in the plural, what is needed, and what is counted where that is missing. Raises InputError where nothing
    is ``found``; ``given`` says what the file has in its place.
    """
    if needed and not found:
        raise InputError(place, f"0 of {needed:,} {what[0]} ({given})", expected)
    return {"what": what[1], "count": needed - found, "of": {"file": str(place), "needed": needed}}


def coverage_warnings(counts: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence per dataset and file with less than ENOUGH of what is needed; ``counts``: those of left_out.json.

    Counts that do not come from count_missing are ignored.
    """
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in counts:
        about = row.get("detail") or {}
        if "needed" in about and row["count"] > (1 - ENOUGH) * about["needed"]:
            said[row["dataset"], about["file"]].append(f"{row['count']:,} of {about['needed']:,} {row['what']}")
    return [
        f"{dataset}: {file} has little of what the study needs: {'; '.join(some)}."
        for (dataset, file), some in said.items()
    ]
