"""Run threads that use one core each, so that results depend only on the input, down to the last bit.

The last bits of a matrix product depend on the batch's shape and the number of cores. On a CPU, each text is therefore
encoded on one core, either alone or in a block of fixed shape (see architectures.py), and each answer is matched on one
core. Different cores work on different texts. Results are byte-identical even if a job is resumed, split or run with a
different number of threads. Workers share the model's weights.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch


@contextmanager
def single_core_workers(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Open a pool of ``threads`` threads in which torch uses one core each. Torch's setting is restored on exit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # OpenMP stores the setting per thread, so each thread must set it.
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)
