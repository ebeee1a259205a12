"""Replace the parts of pages that tools write, between marks. The rest is written by hand."""

import re
from collections.abc import Mapping

BLOCK = re.compile(r"<!-- [^<>]*, by tools/\w+\.py -->\n.*?\n<!-- -->", re.DOTALL)
REST = re.compile(r"<!-- (?:Below: w|W)ritten from .*", re.DOTALL)


def replaced(text: str, start: str, content: str) -> str:
    """Put ``content`` into ``text``, between the line ``start`` and the next line ``<!-- -->``."""
    before, mark, rest = text.partition(f"{start}\n")
    _, end, after = rest.partition("\n<!-- -->")
    if not mark or not end:
        raise ValueError(f"found no lines {start!r} and '<!-- -->' below it; expected them around what is written")
    return f"{before}{mark}\n{content}\n{end}{after}"


def relabelled(table: str, labels: Mapping[str, str]) -> str:
    """Replace the cells of a Markdown ``table`` that are in ``labels``, with or without the note ``(no gate)``."""
    known = {**labels, **{f"{name} (no gate)": f"{label} (no gate)" for name, label in labels.items()}}
    rows = (line[2:-2].split(" | ") for line in table.splitlines())
    return "\n".join(f"| {' | '.join(known.get(cell, cell) for cell in row)} |" for row in rows)


def by_hand(text: str) -> str:
    """Return what of a page no tool writes: all but the blocks, up to the line below which a tool writes everything."""
    return REST.sub("", BLOCK.sub("", text))
