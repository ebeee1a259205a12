"""Threads that each compute with one core, so that a result's bits depend on its input alone.

A matrix product's last bits change with the shape of the batch and with the number of cores it is spread over. On the
CPU every text is therefore encoded in a block of a fixed shape (see architectures.py) or by itself, and every answer
matched by itself, one core each, and the cores are kept busy by giving them different texts. A resumed job, another
split into jobs or another number of threads then gives the same bytes. Workers share the model's weights.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch


@contextmanager
def single_core_workers(threads: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of ``threads`` Python threads in which torch uses one core each; restores torch's setting afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # The setting is kept per thread by OpenMP, hence once more in each.
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)
