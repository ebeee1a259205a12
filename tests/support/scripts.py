"""A rule's script, run in this process with what Snakemake would give it."""

import logging
import runpy
from types import SimpleNamespace
from typing import Any

from tests.support.sandbox import ROOT


def run_script(script: str, **given: Any) -> None:
    """Run ``workflow/scripts/<script>`` with an object ``snakemake`` that has the attributes ``given``."""
    job = SimpleNamespace(**{"rule": script.removesuffix(".py"), "wildcards": ["study"], **given})
    handlers = logging.root.handlers[:]
    try:
        runpy.run_path(str(ROOT / "workflow" / "scripts" / script), init_globals={"snakemake": job})
    finally:
        logging.root.handlers[:] = handlers
