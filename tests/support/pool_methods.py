"""What the engines of a pool are made to do in tests; their processes import it."""

import os
from collections.abc import Iterator
from typing import Any

from ragrelay.generation.token_progress import PROGRESS


def place(engine: Any, requests: Iterator[Any]) -> Iterator[dict[str, Any]]:
    """Say for each request which process got it, and which GPUs that process sees."""
    for request in requests:
        yield {"request": request, "process": os.getpid(), "devices": os.environ["CUDA_VISIBLE_DEVICES"]}


def tell(engine: Any, requests: Iterator[Any]) -> Iterator[dict[str, Any]]:
    """Tell the tokens of unfinished answers, as an engine does between its steps."""
    PROGRESS.get().begun(3.0, 40.0)
    yield from place(engine, requests)


def fail(engine: Any, requests: Iterator[Any]) -> Iterator[dict[str, Any]]:
    """Fail at the third request."""
    for number, request in enumerate(requests):
        if number == 2:
            raise ValueError("too hot")
        yield {"request": request}
