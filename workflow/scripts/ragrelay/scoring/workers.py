"""Run threads that each compute on one core, so that a result's bits depend only on its input.

The last bits of a matrix product change with the shape of the batch and with the number of cores. On a CPU, every text
is therefore encoded in a block of fixed shape (see architectures.py) or by itself, and every answer matched by itself,
on one core. Different texts keep the cores busy. A resumed job, another split into jobs or another number of threads
then gives the same bytes. Workers share the model's weights.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch


@contextmanager
def single_core_workers(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Open a pool of ``threads`` Python threads in which torch uses one core each, then restore torch's setting."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # OpenMP keeps the setting per thread, so each thread sets it again.
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)
