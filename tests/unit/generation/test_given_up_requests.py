"""A request that vLLM gives up is no answer."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.engine import VllmEngine


class GivesUp:
    """Stands in for vLLM's engine: the requests end with ``reasons``, one a step, the last without a token."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        self.output_processor = SimpleNamespace(request_states={str(n): None for n in range(len(reasons))})

    def add_request(self, name: str, *_: Any, **__: Any) -> str:
        return name

    def step(self) -> Iterator[Any]:
        for number, reason in enumerate(self.reasons):
            tokens = [1, 2] if number < len(self.reasons) - 1 else []
            ended = SimpleNamespace(finish_reason=reason, token_ids=tokens)
            yield SimpleNamespace(finished=True, request_id=str(number), outputs=[ended])


@pytest.mark.parametrize("reason", ["error", "abort"])
def test_a_request_that_vllm_gives_up_ends_the_job_after_the_others_are_kept(reason: str) -> None:
    engine = VllmEngine.__new__(VllmEngine)
    engine.generator = {"max_num_seqs": 4}  # type: ignore[assignment]
    engine._engine, engine._adapter = GivesUp(["stop", "length", reason]), None  # type: ignore[attr-defined]
    parameters = SimpleNamespace(logprobs=None, skip_special_tokens=True)
    kept = []
    with pytest.raises(InputError, match=f"vLLM: found a request that ended with '{reason}' after 0 tokens"):
        for item, _ in engine.finished((name, [1], parameters) for name in "abc"):
            kept.append(item)
    assert kept == ["a", "b"]
