"""Which engine makes a generator's answers: vLLM in this process, or an endpoint that serves the model."""

from collections.abc import Mapping
from typing import Any

from ragrelay.generation.job import Engine


def start_engine(generator: Mapping[str, Any], window: int | None, threads: int) -> Engine:
    """The started engine of a generator's definition; its libraries are imported when it is asked for."""
    if generator["engine"] == "openai":
        from ragrelay.generation.endpoint import EndpointEngine

        return EndpointEngine(generator)
    from ragrelay.generation.engine import VllmEngine

    if window is None:
        raise RuntimeError("vLLM without a window")
    return VllmEngine(generator, window, threads)
