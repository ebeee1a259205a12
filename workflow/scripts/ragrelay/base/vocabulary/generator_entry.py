"""Declare the keys of a generator's catalogue entry, for type checkers."""

from collections.abc import Mapping, Sequence
from typing import TypedDict


class GeneratorEntry(TypedDict, total=False):
    """A generator's entry with defaults: the key ``engine`` and the keys that the engine uses (generation.engines)."""

    engine: str
    code: dict[str, str]
    notice: str
    model: str
    prompt: str
    tokenizer: str
    revision: str
    chat: bool
    chat_template_kwargs: Mapping[str, object]
    date: str
    thinking: Mapping[str, object] | list[str] | str
    max_model_len: int
    over_window: str
    temperature: float | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    repetition_penalty: float | None
    presence_penalty: float | None
    frequency_penalty: float | None
    min_tokens: int | None
    max_tokens: int
    stop: Sequence[str]
    flush_seconds: float
    tokens_per_second: float
    threads: int
    trust_remote_code: bool
    converted: Mapping[str, str | None]
    """How to convert the generator's GGUF file (base.models.gguf_conversion). Users can't set this key."""
    structured: str
    """A regular expression that replies must match (questions.nuggets.writing). Users can't set this key."""
    # engine: file
    path: str
    baseline: str
    single_passages: str
    retriever: str
    k: int
    # engine: openai
    base_url: str | list[str]
    api_key_env: str
    max_tokens_name: str
    extra_body: Mapping[str, object]
    entropy: bool
    concurrency: int
    requests_per_minute: int
    max_retries: int
    request_seconds: float
    # engine: vllm
    adapter: str
    adapter_revision: str
    dtype: str
    quantization: str
    kv_cache_dtype: str
    repetition_window: int
    batch_invariant: bool
    model_runner: str
    attention_backend: str
    load_format: str
    prefix_caching: bool
    max_num_seqs: int
    max_num_batched_tokens: int
    block_size: int
    tensor_parallel_size: int
    engines_per_job: int
    gpu_memory_utilization: float
    cpu_kvcache_gib: int
