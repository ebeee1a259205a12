"""Write charts as SVG, PNG and PDF files, offline and with identical bytes each time."""

import re
from base64 import b64encode
from functools import cache
from pathlib import Path

import vl_convert

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic, write_text
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.report.display.charts import Spec

PIXELS_PER_POINT = 4.0
FONTS = ROOT / "workflow/report/fonts"


def draw(spec: Spec, *paths: Path) -> None:
    """Draw ``spec`` and write it to each of ``paths``; the suffix (.svg, .png or .pdf) sets the format."""
    vl_convert.register_font_directory(str(FONTS))
    svg = _sized(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]), spec.get("usermeta", {}).get("points"))
    for path in paths:
        if path.suffix == ".svg":
            write_text(svg.replace(">", f"><style>{_face()}</style>", 1), path)
        elif path.suffix in (".png", ".pdf"):
            png = path.suffix == ".png"
            data = vl_convert.svg_to_png(svg, scale=PIXELS_PER_POINT) if png else _ordered(vl_convert.svg_to_pdf(svg))
            with atomic(path) as temporary:
                temporary.write_bytes(data)
        else:
            raise InputError(path, f"suffix {path.suffix!r}", ".svg, .png or .pdf")


@cache
def _face() -> str:
    """Return CSS that embeds the figures' font, so that every viewer uses it."""
    [font] = FONTS.glob("*.ttf")
    data = b64encode(font.read_bytes()).decode()
    return f"@font-face {{ font-family: 'Figure Sans'; src: url(data:font/ttf;base64,{data}); }}"


def _sized(svg: str, points: int | None) -> str:
    """Scale ``svg`` to a width of ``points``, if given."""
    width, height = map(float, re.findall(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)[0])
    size = f'width="{points}" height="{height * (points or 0) / width:.4g}"'
    return re.sub(r'width="[\d.]+" height="[\d.]+"', size, svg, count=1) if points else svg


def _ordered(pdf: bytes) -> bytes:
    """Sort the entries in the resource dictionaries of ``pdf``, which vl-convert writes in random order.

    Entries are moved as a unit, so every object keeps its offset.
    """
    return re.sub(
        rb"(<<\n)((?: +/\w+ \d+ 0 R\n)+)( +>>)",
        lambda match: match[1] + b"".join(sorted(match[2].splitlines(keepends=True))) + match[3],
        pdf,
    )
