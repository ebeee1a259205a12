"""Run vLLM step by step, adding requests as others finish, so that the batch stays full."""

import copy
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any, TypeVar

import numpy as np

from ragrelay.base.errors import InputError
from ragrelay.base.models.adapters import adapter_arguments, adapter_request
from ragrelay.base.models.gguf_conversion import KEY, model_source
from ragrelay.base.models.locations import is_local
from ragrelay.base.models.staging import staged_model
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import PENALTIES, Method, Request
from ragrelay.generation.reading_check import check_reading
from ragrelay.generation.requests import BLOCK_TOKENS
from ragrelay.generation.store import with_thought
from ragrelay.generation.thought_marks import CUT, NO_END, UNFINISHED, Thought, thought_budget
from ragrelay.generation.token_progress import PROGRESS, TOLD_EVERY
from ragrelay.generation.token_scores import CANDIDATES, token_scores
from ragrelay.generation.tokens import ThoughtTokens, thought_tokens

Asked = TypeVar("Asked")

BATCH_INVARIANT_FROM = (8, 0)
"""Lowest compute capability of NVIDIA GPUs for vLLM's batch invariance. vLLM 0.32.0 doesn't check the GPU, but has
kernels for 8.0 to 8.9 and settings for later ones (model_executor/determinism/batch_invariant.py)."""
OPTIONAL = (
    "quantization", "kv_cache_dtype", "block_size", "max_num_batched_tokens", "attention_backend",
)  # fmt: skip
GIVEN_UP = ("error", "abort")
"""Finish reasons of requests that failed inside vLLM, which calls `error` retryable (vllm/v1/engine/__init__.py,
FinishReason)."""
PLUGINS = "ragrelay.generation.vllm_plugins"


class VllmEngine:
    """A running vLLM engine for a generator. ``window``: the engine's context length in tokens."""

    name = "vllm"

    def __init__(self, generator: GeneratorEntry, window: int, threads: int) -> None:
        import torch

        self.generator = generator
        self.on_cpu = not torch.cuda.is_available()
        if generator["batch_invariant"]:
            check_batch_invariance()
        _set_environment(generator, self.on_cpu, threads)
        import vllm
        from vllm.engine.arg_utils import EngineArgs
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.llm_engine import LLMEngine
        from vllm.v1.executor import Executor

        self.version = vllm.__version__
        self.device = "cpu" if self.on_cpu else torch.cuda.get_device_name(0)
        self._adapter = adapter_request(generator)
        self._thinks = thought_tokens(generator)
        arguments = EngineArgs(**engine_arguments(generator, window, self.on_cpu))
        # The same as in vllm.LLM; without it, vLLM computes 2,048 tokens per step on every GPU.
        usage = UsageContext.LLM_CLASS
        config = arguments.create_engine_config(usage)
        runner = "V2" if config.use_v2_model_runner else "V1"
        if "repetition_window" in generator:
            # vLLM chooses between two model runners, which have different interfaces.
            processor = {"V1": "RecentTokens", "V2": "RecentTokensV2"}[runner]
            config.model_config.logits_processors = [f"{PLUGINS}:{processor}"]
        self._engine = LLMEngine(
            config, Executor.get_class(config), False, usage_context=usage,
            multiprocess_mode=vllm.envs.VLLM_ENABLE_V1_MULTIPROCESSING,
        )  # fmt: skip
        backends = sorted({name for names in self._engine.collective_rpc("attention_backends") for name in names})
        self.settings: dict[str, str] = {
            "model_runner": runner,
            "attention_backend": ", ".join(backends),
            "batch_invariant": "yes" if vllm.envs.VLLM_BATCH_INVARIANT else "no",
        }
        if KEY in generator and generator["load_format"] != "dummy":
            check_reading(generator, window, self.finished)
        self._warm_up()

    def _warm_up(self) -> None:
        """Answer two short requests, then the longer one alone, so that compilation on first use counts as start-up."""
        ends = {"stop": [], "min_tokens": 0, "ignore_eos": True}
        asked = ((size, (0,) * 4, self._parameters(0, max_tokens=size, **ends)) for size in (1, 2))
        deque(self.finished(asked), maxlen=0)

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        """Yield a row for the answer store as each request finishes.

        Each request has a separate seed, so that sampling doesn't depend on the rest of the batch. In bfloat16,
        however, the arithmetic still depends on the batch size.
        """
        if self._thinks:
            yield from self._answers_after_thoughts(requests, self._thinks)
            return
        asked = ((request, request.token_ids, self._parameters(request.seed)) for request in requests)
        for request, output in self.finished(asked):
            yield output_row(request, output) | _scores(output)

    def _answers_after_thoughts(
        self, requests: Iterator[Request], thinks: ThoughtTokens
    ) -> Iterator[dict[str, object]]:
        """Yield rows for answers that are requested after their thoughts, which the answers' prompts then include.

        So stop strings and max_tokens apply only after the end mark. A thought that was cut at its budget gets an end
        mark. If a reply has no thought, it is discarded and the answer requested from the prompt alone.
        """
        thoughts: dict[tuple[str, int], tuple[Thought, Any]] = {}

        def answer_after(request: Request, output: Any) -> tuple[Request, Sequence[int], object] | None:
            if request.key in thoughts:
                return None
            made = output.outputs[0]
            cut = str(made.finish_reason) == "length"
            thought = thinks.thought(made.text, made.token_ids, request.begun, cut)
            thoughts[request.key] = thought, output
            if thought.end == UNFINISHED:
                return None
            added = () if thought.end == NO_END else made.token_ids
            ids = (*request.token_ids, *added, *(thinks.end if thought.end == CUT else ()))
            return replace(request, said=thought.rest), ids, self._parameters(request.seed)

        ends = {"stop": [thinks.marks[1]], "include_stop_str_in_output": True, "min_tokens": 0, "logprobs": None}
        budget = thought_budget(self.generator)
        asked = (
            (request, request.token_ids, self._parameters(request.seed, max_tokens=request.budget or budget, **ends))
            for request in requests
        )
        for request, output in self.finished(asked, answer_after):
            thought, first = thoughts.pop(request.key)
            row = output_row(request, output) | ({} if thought.end == UNFINISHED else _scores(output))
            row["cached_tokens"] = int(first.num_cached_tokens or 0)
            yield with_thought(row, thought, len(first.outputs[0].token_ids))

    def run(self, method: Method, requests: Iterator[object]) -> Iterator[dict[str, object]]:
        """Call ``method`` with this engine and ``requests``, and yield the resulting rows."""
        return method(self, requests)

    def asked_with(self, generator: GeneratorEntry) -> "VllmEngine":
        """Return an engine that shares this engine's loaded model but uses the decoding parameters in ``generator``."""
        other = copy.copy(self)
        other.generator, other._thinks = generator, thought_tokens(generator)
        return other

    def finished(
        self,
        asked: Iterator[tuple[Asked, Sequence[int], object]],
        follow: Callable[[Asked, object], tuple[Asked, Sequence[int], object] | None] = lambda item, output: None,
    ) -> Iterator[tuple[Asked, Any]]:
        """Run requests, and yield each request's item and output as soon as the request finishes.

        ``asked``: the requests; each consists of an item (any object), the prompt's token ids and SamplingParams.
        ``follow``, called with an item and its output, may return a second request, whose output is then yielded
        instead. The engine holds at most two full batches of requests at a time.
        """
        from vllm.inputs import TokensPrompt

        from ragrelay.generation.vllm_plugins import TokenScores, hide_tokens

        waiting: dict[str, Asked] = {}
        told = time.monotonic()
        target = 2 * self.generator["max_num_seqs"]
        numbers, followers = count(), list[tuple[Asked, Sequence[int], Any]]()
        while True:
            begun = [*followers, *islice(asked, max(0, target - len(waiting) - len(followers)))]
            followers.clear()
            for (item, token_ids, parameters), number in zip(begun, numbers, strict=False):
                waiting[str(number)] = item
                prompt = TokensPrompt(prompt_token_ids=list(token_ids))
                name = self._engine.add_request(str(number), prompt, parameters, lora_request=self._adapter)
                state = self._engine.output_processor.request_states[name]
                if parameters.logprobs:
                    state.logprobs_processor = TokenScores()
                if not parameters.skip_special_tokens:
                    hide_tokens(state.detokenizer, self._hidden() or frozenset())
            if not waiting:
                return
            for output in self._engine.step():
                if output.finished:
                    check_end(output)
                    item = waiting.pop(output.request_id)
                    if follower := follow(item, output):
                        followers.append(follower)
                    else:
                        yield item, output
            if (progress := PROGRESS.get()) and time.monotonic() - told >= TOLD_EVERY:
                told, states = time.monotonic(), self._engine.output_processor.request_states.values()
                at_work = [each for each in states if not each.is_prefilling]
                computed = sum(each.prompt_len - each.num_cached_tokens for each in at_work)
                progress.begun(computed, sum(each.detokenizer.num_output_tokens() for each in at_work))

    def _hidden(self) -> frozenset[int] | None:
        return self._thinks.hidden if self._thinks else None

    def _parameters(self, seed: int, **ends: object) -> object:
        """Return the SamplingParams of a request; ``ends`` replaces values from the generator's definition."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        names = ("temperature", "top_k", "top_p", "min_p", "max_tokens", *PENALTIES)
        chosen = {name: self.generator[name] for name in names}  # type: ignore[literal-required]
        if "repetition_window" in self.generator:
            penalty = chosen.pop("repetition_penalty")
            chosen["extra_args"] = {"recent_penalty": penalty, "recent_window": self.generator["repetition_window"]}
        if "structured" in self.generator:
            chosen["structured_outputs"] = StructuredOutputsParams(regex=self.generator["structured"])
        # Log-probabilities come from the model, before penalties, temperature and top-k.
        chosen |= {"stop": list(self.generator["stop"]), "logprobs": CANDIDATES, **ends}
        return SamplingParams(
            **chosen,
            seed=seed,
            skip_special_tokens=self._hidden() is None,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )


def check_end(output: Any) -> None:
    """Raise InputError if a request failed inside vLLM, because the output is then not an answer."""
    reason = str(output.outputs[0].finish_reason)
    if reason in GIVEN_UP:
        found = f"a request that ended with {reason!r} after {len(output.outputs[0].token_ids)} tokens"
        raise InputError("vLLM", found, "an answer; see the job's log, and run the same command to try again")


def output_row(request: Request, output: Any) -> dict[str, object]:
    """Convert vLLM's output for ``request`` to a row for the store, without the columns logprob and TOKEN_SCORES."""
    completion = output.outputs[0]
    return {
        "prompt_id": request.prompt_id,
        "seed": request.seed,
        "answer": (request.said + completion.text).strip(),
        "finish_reason": str(completion.finish_reason),
        "prompt_tokens": len(request.token_ids),
        "cached_tokens": int(output.num_cached_tokens or 0),
        "answer_tokens": len(completion.token_ids),
        "dropped_passages": request.dropped_passages,
    }


def _scores(output: Any) -> dict[str, object]:
    completion = output.outputs[0]
    scores = np.concatenate(completion.logprobs)
    return {"logprob": float(completion.cumulative_logprob), **token_scores(scores[:, 0].tolist(), scores[:, 1:])}


def check_batch_invariance() -> None:
    """Raise InputError if this machine's GPU doesn't support vLLM's batch invariance."""
    import torch

    major, minor = BATCH_INVARIANT_FROM
    expected = f"an NVIDIA GPU of compute capability {major}.{minor} or later, or this key removed"
    if not torch.cuda.is_available() or torch.version.hip:
        raise InputError("generator key batch_invariant", "true on a machine without an NVIDIA GPU", expected)
    capability = torch.cuda.get_device_capability(0)
    if capability < BATCH_INVARIANT_FROM:
        found = f"true on {torch.cuda.get_device_name(0)} (compute capability {capability[0]}.{capability[1]})"
        raise InputError("generator key batch_invariant", found, expected)


def engine_arguments(generator: GeneratorEntry, window: int, on_cpu: bool) -> dict[str, object]:
    """Convert a generator's definition to vLLM's engine arguments."""
    source, revision = model_source(generator)
    arguments: dict[str, object] = {
        "model": staged_model(source, revision),
        "dtype": generator["dtype"],
        "load_format": generator["load_format"],
        "max_model_len": window,
        "max_num_seqs": generator["max_num_seqs"],
        "enable_prefix_caching": generator["prefix_caching"],
        "tensor_parallel_size": generator["tensor_parallel_size"],
        "trust_remote_code": generator["trust_remote_code"],
        "seed": 0,
        "disable_log_stats": True,
        "worker_extension_cls": f"{PLUGINS}.AttentionBackends",
        **adapter_arguments(generator),
    }
    if revision is not None:
        arguments["revision"] = revision
    for optional in OPTIONAL:
        if optional in generator:
            arguments[optional] = generator[optional]  # type: ignore[literal-required]
    if on_cpu:
        arguments["tensor_parallel_size"] = 1  # no GPUs to split the model across
        # On CPU, per-request seeds need each prompt in one step (else "CPU Generator does not use offset").
        arguments["enable_chunked_prefill"] = False
        arguments.setdefault("block_size", BLOCK_TOKENS["cpu"])
        arguments["max_num_batched_tokens"] = max(generator.get("max_num_batched_tokens", 4096), window)
        arguments["distributed_executor_backend"] = "uni"
        # Compilation takes up to minutes at every start and makes kernels depend on a cache outside the study.
        arguments["enforce_eager"] = True
    else:
        arguments["gpu_memory_utilization"] = generator["gpu_memory_utilization"]
    return arguments


def _set_environment(generator: GeneratorEntry, on_cpu: bool, threads: int) -> None:
    """Set vLLM's environment variables before its import; usage reports are off. Your own variables take precedence."""
    if generator["batch_invariant"]:
        os.environ["VLLM_BATCH_INVARIANT"] = "1"
    if "model_runner" in generator:
        os.environ["VLLM_USE_V2_MODEL_RUNNER"] = {"v1": "0", "v2": "1"}[generator["model_runner"]]
    defaults = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
    if on_cpu:
        defaults |= {
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "VLLM_CPU_KVCACHE_SPACE": str(generator["cpu_kvcache_gib"]),
            "OMP_NUM_THREADS": str(threads),
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # if bound, two jobs on a machine would start on the same core
            # With split attention, the order of summation depends on the rest of the batch. Log-probabilities, and
            # occasionally a token, then differ between an uninterrupted job, a resumed one and a shard.
            "VLLM_CPU_ATTN_SPLIT_KV": "0",
        }
    if all(is_local(generator[key]) for key in ("model", "adapter") if key in generator):
        defaults["HF_HUB_OFFLINE"] = "1"
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
