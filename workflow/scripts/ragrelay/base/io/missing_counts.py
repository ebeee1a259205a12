"""Count a job's missing results before the job starts, so that the job requests a GPU only if results are missing."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.vocabulary.study_file import GPU_NAMES, MISSING_KEYS

_BEFORE_WORK: ContextVar[Callable[[], object]] = ContextVar("before_work", default=lambda: None)


class _WorkError(Exception):
    """Raised when a job that only counts would start working."""


def check_counted(counts: Iterable[str], gpus: object) -> None:
    """Raise InputError if a job got no GPU because its count files (``counts``) say that no results are missing.

    Call this function if results turn out to be missing after all. The job then fails; its next attempt requests GPUs.
    """
    for count in counts if not gpus else ():
        if json.loads(Path(count).read_text(encoding="utf-8")) == {MISSING_KEYS: 0}:
            found = "missing results, although none were missing when they were counted"
            expected = "a cache from which nothing is removed during a run; the job's next attempt requests a GPU"
            raise InputError(count, found, expected)


def before_work() -> None:
    """Raise an error if the job must not load a model, because it only counts missing results or got no GPU."""
    _BEFORE_WORK.get()()


@contextmanager
def counted_work(job: Any) -> Iterator[None]:
    """Within the context, let before_work stop ``job`` if the job only counts missing results or got no GPU."""
    gpus = any(job.resources.get(name) for name in GPU_NAMES)
    counts, missing = job.output.get(MISSING_KEYS), 0
    token = _BEFORE_WORK.set(_end if counts else partial(check_counted, job.input.get(MISSING_KEYS, ()), gpus))
    try:
        yield
    except _WorkError:
        missing = 1
    finally:
        _BEFORE_WORK.reset(token)
    if counts:
        write_json({MISSING_KEYS: missing}, counts)


def _end() -> NoReturn:
    raise _WorkError
