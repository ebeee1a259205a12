"""Which engine makes a generator's answers: vLLM in this process, or an endpoint that serves the model."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragrelay.errors import InputError

if TYPE_CHECKING:
    from ragrelay.generation.job import Engine

URL_VARIABLE = "OPENAI_BASE_URL"


def start_engine(generator: Mapping[str, Any], window: int | None, threads: int) -> "Engine":
    """The started engine of a generator's definition; its libraries are imported when it is asked for."""
    if generator["engine"] == "openai":
        from ragrelay.generation.endpoint import EndpointEngine

        return EndpointEngine(generator)
    from ragrelay.generation.engine import VllmEngine

    if window is None:
        raise RuntimeError("vLLM without a window")
    return VllmEngine(generator, window, threads)


def endpoint_address(definition: Mapping[str, Any]) -> str:
    """Where a generator with ``engine: openai`` is asked: its ``base_url``, or else what the environment says.

    Raises InputError where neither is given.
    """
    address = definition.get("base_url") or os.environ.get(URL_VARIABLE)
    if not address:
        expected = f"the address of the endpoint that serves {definition['model']!r}, or key base_url in its entry"
        raise InputError(f"environment variable {URL_VARIABLE}", "nothing", expected)
    return address
