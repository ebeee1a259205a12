"""Check the counts of missing keys, on which the GPUs of a job depend, before the job makes keys."""

import json
from collections.abc import Iterable
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.study_file import MISSING_KEYS


def check_counted(counts: Iterable[str], gpus: int) -> None:
    """Raise InputError in a job without GPUs that is about to make keys, of which its ``counts`` found none missing.

    The job's next attempt asks for its GPUs.
    """
    for count in counts if not gpus else ():
        if json.loads(Path(count).read_text(encoding="utf-8")) == {MISSING_KEYS: 0}:
            found = "no missing keys when they were counted, and some now"
            expected = "a cache from which nothing is removed during a run; the job's next attempt asks for a GPU"
            raise InputError(count, found, expected)
