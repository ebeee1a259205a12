"""Run a job's script with a log file, and end the job with a one-line error if users can correct the cause."""

import contextlib
import ctypes
import errno
import gc
import logging
import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ragrelay.base.display import progress
from ragrelay.base.display.terminal import KEPT, Shown, tell, tell_uncaught
from ragrelay.base.errors import InputError
from ragrelay.base.io.file_versions import unchanged
from ragrelay.execution.jobs.unreadable_files import check_ends, check_readable, is_failure

INPUT_ERROR = re.compile(r"\S+ \S+ ERROR root: (.* expected .*)")
NO_WRITING = {
    errno.ENOSPC: f"free some space there; {KEPT}",
    errno.EDQUOT: f"free some of your quota there; {KEPT}",
    errno.EROFS: f"make it writable, or name another folder (pathvars, cache_dir); {KEPT}",
    errno.EACCES: f"make it writable, or name another folder (pathvars, cache_dir); {KEPT}",
}
NO_MEMORY = "the job: out of memory; allow it more (on a cluster mem_mb of its rule), or run fewer jobs at once"
PR_SET_PDEATHSIG = 1
COLLECTED_AT = 10_000
"""Number of new objects after which Python collects garbage. With the default of 700, importing vLLM or transformers
spends a fifth of the time on garbage collection."""


class _Stopped(BaseException):
    """Raised when a signal tells the job to end."""


@contextlib.contextmanager
def on_terminal() -> Iterator[None]:
    """Turn an InputError into one line on the terminal and exit status 1."""
    try:
        yield
    except InputError as error:
        sys.exit(f"ragrelay: error: {error}")


@contextlib.contextmanager
def job_log(path: str, inputs: Iterable[str] = (), hub: bool = False, job: str = "") -> Iterator[None]:
    """Log a job to a file. Errors that users can fix end the job with one line in the file and on the terminal.

    Such errors are bad input, a full disk, too little memory, and signals. `finally` clauses still run on SIGTERM,
    which a job receives when it is cancelled, preempted or out of time.

    Args:
        path: The log file.
        inputs: The job's input files. The error line names any file that is damaged or changes during the job.
        hub: Whether to allow access to the model hub.
        job: The job's name, for progress lines.

    Returns:
        A context manager; run the job's work inside it.
    """
    logging.basicConfig(
        filename=path, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    for handler in logging.getLogger().handlers:
        handler.setFormatter(Shown(handler.formatter))
    logging.captureWarnings(True)
    sys.excepthook = tell_uncaught
    if not hub:
        _hub_access_off()
    gc.set_threshold(COLLECTED_AT)
    before = signal.signal(signal.SIGTERM, _stop)
    _end_with_the_parent()
    try:
        with unchanged(inputs), progress.prefixed(job):
            check_ends(inputs)
            yield
    except InputError as error:
        _end(str(error))
    except KeyboardInterrupt:  # sent to the entire process group; Snakemake prints it once
        logging.error("stopped by an interrupt: %s", KEPT)
        sys.exit(1)
    except _Stopped as stopped:
        _end(f"stopped by {stopped}: {KEPT}")
    except OSError as error:
        if error.errno not in NO_WRITING:
            logging.exception("the job failed")
            raise
        logging.exception("writing failed")
        _end(f"{error.filename or 'writing'}: {error.strerror}; {NO_WRITING[error.errno]}")
    except BaseException as error:
        if not is_failure(error):
            raise
        logging.exception("the job failed")
        try:
            check_readable(inputs)
        except InputError as damaged:
            _end(str(damaged))
        if isinstance(error, MemoryError):
            _end(f"{NO_MEMORY}; {KEPT}")
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(line: str) -> None:
    logging.error("%s", line)
    tell(f"ragrelay: error: {line}")
    sys.exit(1)


def _stop(number: int, frame: object) -> None:
    raise _Stopped(signal.Signals(number).name)


def _end_with_the_parent() -> None:
    """Have the kernel send SIGTERM when Snakemake's process ends, so that the job doesn't hold on to its GPU."""
    if sys.platform == "linux" and os.getppid() != 1:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _hub_access_off() -> None:
    """Turn off hub access for this process and its children, unless ``HF_HUB_OFFLINE`` is set.

    The hub's library only reads the variable when it is imported.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    constants: Any = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        constants.HF_HUB_OFFLINE = os.environ["HF_HUB_OFFLINE"].upper() in ("1", "ON", "YES", "TRUE")


def collect_input_errors(folder: str | Path, since: float) -> str:
    """Collect the InputErrors that ended jobs, from the logs in ``folder`` that were written after ``since``.

    Returns a heading and one line per distinct error, or an empty string if there were no errors.
    """
    last_lines = [
        path.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
        for path in sorted(Path(folder).rglob("*.log"))
        if path.stat().st_mtime >= since
    ]
    errors = dict.fromkeys(match[1] for line in last_lines if (match := INPUT_ERROR.fullmatch(line)))
    return "\n".join(["", "Fix this:", *(f"  {error}" for error in errors), "", ""]) if errors else ""
