"""Load the pages' templates, styles and scripts, and the JavaScript library that draws charts."""

from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from ragrelay.base.annex import template_folders
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.report.display.numbers import number
from ragrelay.report.display.terms import Explainer, explained

FOLDER = ROOT / "workflow" / "report"
"""The core's templates, and the pages' styles and scripts."""


def environment(folder: Path) -> jinja2.Environment:
    """Return a Jinja environment that finds templates in ``folder``, in the core and in the annexes.

    The environment escapes text and raises an error for undefined names.
    """
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, FOLDER, *template_folders()]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # ``broken`` allows line breaks after the underscores of a long name.
    # ``explained`` marks terms where the page first uses them; ``terms`` are all of these, with their meanings.
    jinja.filters |= {"shown": number, "broken": lambda name: escape(name).replace("_", Markup("_<wbr>"))}
    # The context stops Jinja from calling it for constants before the page is rendered.
    explainer = Explainer()
    jinja.filters |= {"explained": jinja2.pass_context(lambda context, text: explainer(text))}
    jinja.globals |= {"terms": explained}
    return jinja


def inside(folder: Path, *names: str) -> Markup:
    """Concatenate files from ``folder`` for inclusion in a page, without escaping any text."""
    return Markup("\n".join((folder / name).read_text(encoding="utf-8") for name in names))


@cache
def bundle() -> Markup:
    """Return a script with Vega, Vega-Lite and Vega-Embed (licence: BSD-3-Clause), as bundled in vl-convert."""
    import vl_convert  # imported here, because Snakemake's own environment may lack it

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return Markup(script.replace("</script", "<\\/script").replace("<!--", "<\\!--"))
