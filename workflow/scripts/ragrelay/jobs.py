"""What every script does around its one call: log to the rule's file, and end with one line on bad input."""

import contextlib
import logging
import sys
from collections.abc import Iterator

from ragrelay.errors import InputError


@contextlib.contextmanager
def job_log(path: str) -> Iterator[None]:
    """Send logging to file ``path``; turn InputError into one line on the terminal and in the log, and status 1."""
    logging.basicConfig(
        filename=path, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    logging.captureWarnings(True)
    try:
        yield
    except InputError as error:
        logging.error("%s", error)
        sys.exit(f"ragrelay: error: {error}")
    except Exception:
        logging.exception("the job failed")
        raise
