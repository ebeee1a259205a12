"""Run threads that compute on one core each, so that a result's bits depend only on its input.

The last bits of a matrix product change with the batch's shape and the number of cores. On a CPU, each text is
therefore encoded alone or in a block of fixed shape (see architectures.py), and each answer matched alone, on one core.
The cores work on different texts. Resuming a job, splitting it or using another number of threads thus gives the same
bytes. Workers share the model's weights.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch


@contextmanager
def single_core_workers(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Open a pool of ``threads`` Python threads in which torch uses one core each; restore torch's setting on exit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # OpenMP stores the setting per thread, so each thread must set it.
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)
