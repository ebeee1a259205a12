"""vLLM in the job."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from ragrelay.errors import InputError
from ragrelay.generation.generator import DECODING, Generator
from ragrelay.kinds import Download, Study, Text
from ragrelay.models.locations import check_adapter, check_model, check_window, model_identity

if TYPE_CHECKING:
    from ragrelay.generation.engine import VllmEngine

DECISIVE = (
    "dtype", "quantization", "kv_cache_dtype", "max_model_len", "over_window", *DECODING, "trust_remote_code",
)  # fmt: skip


class Vllm(Generator):
    """runs the model in the job."""

    in_job: ClassVar[bool] = True
    scores_texts: ClassVar[bool] = True

    adapter: Text | None = Field(None, description="LoRA adapter upon the model; local folder or hub id.")
    adapter_revision: Text | None = Field(None, description="Commit or tag of a hub adapter.")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field("auto", description="Number type of the weights.")
    quantization: Text | None = Field(None, description="vLLM's quantisation method, e.g. `fp8`.")
    kv_cache_dtype: Literal["float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"] | None = Field(
        None,
        description="Number type of the key-value cache; the model's own where absent. `fp8` halves it, so that about "
        "twice the tokens fit on a GPU.",
    )
    load_format: Literal["auto", "safetensors", "dummy"] = Field(
        "auto", description="`dummy` makes random weights in the model's shape, to measure speed without them."
    )
    prefix_caching: bool = Field(True, description="Serve shared prompt prefixes from the engine's cache.")
    max_num_seqs: int = Field(256, ge=1, description="Requests in the engine's batch at once.")
    max_num_batched_tokens: int | None = Field(
        None,
        ge=16,
        description="Tokens per engine step; where absent vLLM's own choice for offline work (16,384 on a GPU of 70 GB "
        "or more), on CPU 4,096 or the window if that is larger.",
    )
    block_size: int | None = Field(
        None,
        ge=1,
        description="Tokens per block of the prefix cache; where absent 32 on CPU, the least there, and vLLM's own "
        "choice (16) on a GPU.",
    )
    tensor_parallel_size: int = Field(1, ge=1, description="GPUs per engine.")
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1, description="Share of a GPU's memory the engine takes.")
    cpu_kvcache_gib: int = Field(1, ge=1, description="GiB of key-value cache on CPU.")

    def check(self, place: str, study: Study) -> None:
        """A local model and adapter must be whole, and the window have room for a prompt."""
        check_model(f"{place}.model'", self.model, study.folder, True, self.load_format != "dummy")
        window = {"model": self.model, "max_tokens": self.max_tokens}
        if self.max_model_len is not None:
            window["max_model_len"] = self.max_model_len
        check_window(f"{place}.max_tokens'", window, study.folder)
        if self.adapter is not None:
            check_adapter(f"{place}.adapter'", self.adapter, study.folder)
        elif self.adapter_revision is not None:
            raise InputError(f"{place}.adapter_revision'", "a revision without adapter", "key adapter")

    def downloads(self) -> Iterator[Download]:
        """The model, of which dummy weights leave the tokenizer alone, and the adapter."""
        yield Download("model", self.model, self.revision, "tokenizer" if self.load_format == "dummy" else "model")
        if self.adapter is not None:
            yield Download("adapter", self.adapter, self.adapter_revision, "adapter")

    def gpus(self) -> int:
        """As many as share the model."""
        return self.tensor_parallel_size

    @classmethod
    def start(cls, definition: Mapping[str, Any], window: int | None, threads: int) -> "VllmEngine":
        """vLLM, in this process."""
        from ragrelay.generation.engine import VllmEngine

        if window is None:
            raise RuntimeError("vLLM without a window")
        return VllmEngine(definition, window, threads)

    @classmethod
    def decisive(cls, definition: Mapping[str, Any], folder: Path, cache_dir: Path | None) -> dict[str, Any]:
        """The files of model and adapter, numbers, window and decoding."""
        found = {key: definition[key] for key in DECISIVE if key in definition}
        found["model"] = model_identity(definition["model"], definition.get("revision"), folder, cache_dir)
        if "adapter" in definition:
            revision = definition.get("adapter_revision")
            found["adapter"] = model_identity(definition["adapter"], revision, folder, cache_dir)
        # How weights are read decides nothing, unless they are made up.
        if definition.get("load_format") == "dummy":
            found["load_format"] = "dummy"
        return found
