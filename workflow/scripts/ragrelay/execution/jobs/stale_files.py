"""List files in a study's results that no rule creates any more, for example after a retriever was removed."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

KEPT = ("plan.csv", "plan.json", "report/pages.js")
"""Files in the results that come from other configurations or commands and so are never stale."""


def list_stale(folder: str | Path, patterns: Iterable[str], kept: Iterable[str] = KEPT) -> Iterator[Path]:
    """Yield, in sorted order, the files in ``folder`` that match none of the ``patterns``.

    ``kept``: files and folders that are never stale. ``patterns``: regular expressions for the rules' outputs;
    wildcards only match names in the configuration. Files in folders that a rule creates aren't stale.
    """
    never = set(kept)
    made = [re.compile(pattern) for pattern in patterns]
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        inside = path.relative_to(folder)
        if {inside.parts[0], inside.as_posix()} & never or inside.name.startswith("."):
            continue
        above = [path, *(parent for parent in path.parents if Path(folder) in parent.parents)]
        if not any(pattern.fullmatch(str(name)) for name in above for pattern in made):
            yield path
