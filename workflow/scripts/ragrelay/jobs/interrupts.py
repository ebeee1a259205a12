"""Ctrl-C while Snakemake reads the workflow: a line in place of Python's traceback."""

import sys
from types import TracebackType

KEPT = "what was finished is kept; run the same command again to go on from there"


def tell_interrupts() -> None:
    """Have this process end with one line at a KeyboardInterrupt that nothing catches; its status stays a signal's.

    Snakemake catches those that come while jobs run. For its imports, before the workflow is read, the environment that
    `make setup` makes does the same (requirements/make_environment.py).
    """
    sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write(f"\nragrelay: error: stopped by an interrupt: {KEPT}\n")
    else:
        sys.__excepthook__(kind, error, trace)
