"""Compute exact log-probabilities of continuations with vLLM, even for unlikely tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.likelihoods.continuations import continuation_id

AT_ONCE = 128
"""Maximum number of single tokens per request (vLLM's MAX_LOGPROB_TOKEN_IDS)."""


REQUEST = ("requests", "prompt_tokens", "cached_tokens")
"""Figures per request: the number of requests, the tokens sent, and how many of them came from the prefix cache."""


@dataclass(frozen=True)
class Scoring:
    """A request for the log-probabilities of a prompt's continuations: several single tokens, or one longer text."""

    prompt_id: str
    token_ids: tuple[int, ...]
    continuations: tuple[tuple[int, ...], ...]

    @property
    def single(self) -> bool:
        """Whether all continuations are single tokens, so that one forward pass over the prompt is enough."""
        return bool(self.token_ids) and all(len(continuation) == 1 for continuation in self.continuations)

    @property
    def given(self) -> tuple[int, ...]:
        """The token ids to send. If the prompt is empty (no BOS), the continuation's first token isn't scored."""
        return self.token_ids if self.single else self.token_ids + self.continuations[0]


def scorings(prompt_id: str, token_ids: Sequence[int], continuations: Sequence[Sequence[int]]) -> Iterator[Scoring]:
    """Divide a prompt's ``continuations`` into requests, each with several single tokens or one longer text."""
    ids = tuple(token_ids)
    singles = [tuple(continuation) for continuation in continuations if len(continuation) == 1 and ids]
    for start in range(0, len(singles), AT_ONCE):
        yield Scoring(prompt_id, ids, tuple(singles[start : start + AT_ONCE]))
    for continuation in continuations:
        if len(continuation) > 1 or not ids:
            yield Scoring(prompt_id, ids, (tuple(continuation),))


def log_probabilities(engine: VllmEngine, requests: Iterator[Scoring]) -> Iterator[dict[str, Any]]:
    """Yield one row per continuation for the likelihood store, as each request finishes.

    The columns REQUEST are 0 except in a request's first row, so that sums over rows count each request once.
    """
    for scoring, output in engine.finished((request, request.given, _parameters(request)) for request in requests):
        figures = (1, len(scoring.given), int(output.num_cached_tokens or 0))
        for row in _rows(scoring, output):
            yield {**row, **dict(zip(REQUEST, figures, strict=True))}
            figures = (0, 0, 0)


def _parameters(scoring: Scoring) -> object:
    from vllm import SamplingParams

    if scoring.single:
        tokens = [continuation[0] for continuation in scoring.continuations]
        return SamplingParams(temperature=0.0, max_tokens=1, logprob_token_ids=tokens)
    # 0: only the tokens in the prompt, without the likeliest alternatives.
    return SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0)


def _rows(scoring: Scoring, output: Any) -> Iterator[dict[str, Any]]:
    if scoring.single:
        logprobs = output.outputs[0].logprobs[0]
        for continuation in scoring.continuations:
            yield _row(scoring.prompt_id, continuation, [logprobs[continuation[0]].logprob])
        return
    continuation = scoring.continuations[0]
    start = max(1, len(scoring.token_ids))
    places = zip(scoring.given[start:], output.prompt_logprobs[start:], strict=True)
    yield _row(scoring.prompt_id, continuation, [logprobs[token].logprob for token, logprobs in places])


def _row(prompt_id: str, continuation: Sequence[int], logprobs: Sequence[float]) -> dict[str, object]:
    return {
        "prompt_id": prompt_id,
        "continuation": continuation_id(continuation),
        "tokens": len(logprobs),
        "logprob": float(sum(logprobs)),
    }
