"""Extend vLLM with code that vLLM loads by import path, possibly in worker processes."""

from collections.abc import Set
from typing import Any, cast

import numpy as np
import torch
from vllm.v1.engine.logprobs import LogprobsProcessor
from vllm.v1.outputs import LogprobsLists
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor
from vllm.v1.sample.logits_processor.builtin import process_dict_updates
from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext, LogitsProcRequestState
from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as LogitsProcessorV2

from ragrelay.generation.token_scores import CANDIDATES

PENALTY, WINDOW = "recent_penalty", "recent_window"
"""Keys in SamplingParams.extra_args."""


class RecentTokens(LogitsProcessor):
    """A repetition penalty for the most recent tokens in prompt and answer (model runner V1).

    Requests set PENALTY and WINDOW in extra_args. The penalty is applied before vLLM's own, even in greedy decoding.
    """

    def __init__(self, vllm_config: object, device: torch.device, is_pin_memory: bool) -> None:
        self.device = device
        self.requests: dict[int, tuple[float, int, list[int], list[int]]] = {}

    def is_argmax_invariant(self) -> bool:
        """Return False, because the penalty may change which token is likeliest."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Store the penalty, window, prompt and growing answer for each request that sets a penalty."""
        process_dict_updates(self.requests, batch_update, self._request)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Penalise ``logits`` (requests × vocabulary) in place."""
        if not self.requests:
            return logits
        width = max(window for _, window, _, _ in self.requests.values())
        recent = []
        for _, window, prompt, answer in self.requests.values():
            tokens = answer[-window:]
            if len(tokens) < window:
                tokens = prompt[len(tokens) - window :] + tokens
            recent.append(tokens + tokens[-1:] * (width - len(tokens)))
        rows = torch.tensor(list(self.requests), device=self.device)
        penalties = torch.tensor([penalty for penalty, *_ in self.requests.values()], device=self.device)
        logits[rows] = penalised(logits[rows], torch.tensor(recent, device=self.device), penalties)
        return logits

    @staticmethod
    def _request(params: Any, prompt: list[int] | None, answer: list[int]) -> object:
        asked = params.extra_args or {}
        return (asked[PENALTY], asked[WINDOW], prompt or [], answer) if WINDOW in asked else None


class RecentTokensV2(LogitsProcessorV2):
    """A repetition penalty for the most recent tokens in prompt and answer (model runner V2).

    Requests set PENALTY and WINDOW in extra_args. vLLM's own presence and frequency penalties are applied first.
    """

    def __init__(self, vllm_config: object, req_states: LogitsProcRequestState) -> None:
        self.tokens = req_states.all_token_ids
        self.penalties = torch.ones(req_states.max_num_reqs, device=req_states.device)
        self.windows = torch.ones(req_states.max_num_reqs, dtype=torch.int64, device=req_states.device)
        self.width = 1

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Store the request's penalty (by default 1, which has no effect), and return whether the request sets one."""
        asked = sampling_params.extra_args or {}
        self.penalties[req_idx] = asked.get(PENALTY, 1.0)
        self.windows[req_idx] = asked.get(WINDOW, 1)
        self.width = max(self.width, asked.get(WINDOW, 1))
        return WINDOW in asked

    def apply(self, logits: torch.Tensor, ctx: LogitsContext) -> torch.Tensor:
        """Penalise ``logits`` (rows × vocabulary) in place."""
        slots = ctx.expanded_idx_mapping.long()
        back = torch.arange(self.width, device=logits.device).minimum(self.windows[slots, None] - 1)
        places = (ctx.pos.long()[:, None] - back).clamp(min=0)
        return penalised(logits, self.tokens.gpu[slots[:, None], places].long(), self.penalties[slots])


class TokenScores(LogprobsProcessor):
    """A processor for a request's log-probabilities that stores one array per step.

    Each array has shape tokens × (1 + CANDIDATES). vLLM's own processor creates a string and an object per candidate,
    which takes several times as long as everything else that the processor does for a token.
    """

    cumulative_logprob: float

    def __init__(self) -> None:
        self.steps: list[np.ndarray] = []
        super().__init__(
            tokenizer=None, logprobs=cast(Any, self.steps), prompt_logprobs=None, cumulative_logprob=0.0,
            num_logprobs=CANDIDATES, num_prompt_logprobs=None,
        )  # fmt: skip

    def _update_sample_logprobs(self, logprobs_lists: LogprobsLists) -> None:
        self.steps.append(logprobs_lists.logprobs)
        for sampled in logprobs_lists.logprobs[:, 0].tolist():
            self.cumulative_logprob += sampled


def hide_tokens(detokenizer: Any, hidden: Set[int]) -> None:
    """Omit the special tokens ``hidden`` from a request's text. vLLM can only omit all special tokens or none."""
    shown = detokenizer.decode_next
    detokenizer.decode_next = lambda token_id: "" if token_id in hidden else shown(token_id)


class AttentionBackends:
    """An extension of vLLM's worker that reports which attention backends the model uses."""

    def attention_backends(self) -> list[str]:
        """Return the names of the attention backends in the model's layers."""
        layers = self.vllm_config.compilation_config.static_forward_context.values()  # type: ignore[attr-defined]
        return sorted({layer.get_attn_backend().get_name() for layer in layers if hasattr(layer, "get_attn_backend")})


def penalised(logits: torch.Tensor, recent: torch.Tensor, penalties: torch.Tensor) -> torch.Tensor:
    """Apply each row's repetition penalty to the row's ``recent`` tokens (n × window) in ``logits`` (n × vocabulary).

    Positive logits are divided by the penalty; negative logits are multiplied by it. A token is penalised once, even if
    it occurs several times (as in llama.cpp's ``llama_sample_repetition_penalties``). Changes ``logits`` in place.
    """
    gathered = logits.gather(1, recent)
    factors = penalties.to(logits.dtype)[:, None]
    return logits.scatter_(1, recent, torch.where(gathered > 0, gathered / factors, gathered * factors))
