"""A rule's script, run in this process with what Snakemake would give it."""

import logging
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from snakemake.iocontainers import Namedlist

from tests.support.rule_files import SCRIPTS


def named(**values: Any) -> Namedlist:
    """What Snakemake gives a script as input, output or params: flat, a list's items under its name."""
    found = Namedlist()
    for name, value in values.items():
        several = isinstance(value, list)
        start = len(found)
        found.extend(value if several else [value])
        found._set_name(name, start, end=len(found) if several else None)
    return found


def run_script(script: str, **given: Any) -> None:
    """Run a script of `rule_files.SCRIPTS` with an object ``snakemake`` that has the attributes ``given``."""
    job = SimpleNamespace(**{"rule": Path(script).stem, "wildcards": ["study"], "resources": {}, **given})
    handlers = logging.root.handlers[:]
    try:
        runpy.run_path(str(SCRIPTS[script]), init_globals={"snakemake": job})
    finally:
        logging.root.handlers[:] = handlers
