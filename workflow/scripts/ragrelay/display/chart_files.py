"""Writing charts as files: SVG, PNG and PDF, without network and with the same bytes each time."""

import re
from pathlib import Path

import vl_convert

from ragrelay.display.charts import Spec
from ragrelay.errors import InputError
from ragrelay.io.atomic_files import atomic, write_text

PIXELS_PER_POINT = 2.0


def draw(spec: Spec, path: Path) -> None:
    """Write ``spec`` to ``path`` in the format of its suffix (PNG with two pixels per point)."""
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    if path.suffix == ".svg":
        write_text(svg, path)
    elif path.suffix in (".png", ".pdf"):
        png = path.suffix == ".png"
        data = vl_convert.svg_to_png(svg, scale=PIXELS_PER_POINT) if png else _ordered(vl_convert.svg_to_pdf(svg))
        with atomic(path) as temporary:
            temporary.write_bytes(data)
    else:
        raise InputError(path, f"suffix {path.suffix!r}", ".svg, .png or .pdf")


def _ordered(pdf: bytes) -> bytes:
    """``pdf`` with the entries of its resource dictionaries in order: vl-convert writes them in a chance one.

    Only the order of whole entries changes, so every object stays at its offset.
    """
    return re.sub(
        rb"(<<\n)((?: +/\w+ \d+ 0 R\n)+)( +>>)",
        lambda found: found[1] + b"".join(sorted(found[2].splitlines(keepends=True))) + found[3],
        pdf,
    )
