"""What every script does around its one call: log to the rule's file, and end with one line on bad input."""

import contextlib
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ragrelay.errors import InputError

TOLD = re.compile(r"\S+ \S+ ERROR root: (.* expected .*)")


@contextlib.contextmanager
def on_terminal() -> Iterator[None]:
    """Turn InputError into one line on the terminal, with nothing around it, and status 1."""
    try:
        yield
    except InputError as error:
        sys.exit(f"ragrelay: error: {error}")


@contextlib.contextmanager
def job_log(path: str) -> Iterator[None]:
    """Send logging to file ``path``; turn InputError into one line on the terminal and in the log, and status 1."""
    logging.basicConfig(
        filename=path, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    logging.captureWarnings(True)
    with on_terminal():
        try:
            yield
        except InputError as error:
            logging.error("%s", error)
            raise
        except Exception:
            logging.exception("the job failed")
            raise


def errors_told(folder: str | Path, since: float) -> str:
    """The InputErrors that jobs ended with, from the logs under ``folder`` written after the time ``since``.

    A heading and a line each; empty where there is none.
    """
    ends = [
        path.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
        for path in sorted(Path(folder).rglob("*.log"))
        if path.stat().st_mtime >= since
    ]
    told = dict.fromkeys(found[1] for end in ends if (found := TOLD.fullmatch(end)))
    return "\n".join(["", "To be corrected:", *(f"  {line}" for line in told), "", ""]) if told else ""
