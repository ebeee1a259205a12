"""Check that converting a GGUF file would preserve every key and tensor that affects the model's output.

The output depends on the tensors and on the keys for the architecture and the tokenizer. Other keys, such as
``general`` and ``quantize``, only describe the file.
"""

import re
from collections.abc import Collection
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.models.gguf_files import GgufHeader

PROVEN = ("llama",)
"""Architectures that we tested: converted tensors equal those that the package gguf reads, and models give answers."""
REQUIRED = ("block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count",
            "attention.layer_norm_rms_epsilon")  # fmt: skip
CARRIED = (*REQUIRED, "attention.head_count_kv", "rope.freq_base", "vocab_size")
"""The keys that describe a Llama model."""
WIDTHS = ("rope.dimension_count", "attention.key_length", "attention.value_length")
"""Keys for the width of attention heads, whose values must all be equal."""
TENSORS = re.compile(
    r"(?:token_embd|output_norm|output)\.weight"
    r"|blk\.(\d+)\.(?:attn_(?:q|k|v|output|norm)|ffn_(?:gate|up|down|norm))\.weight"
)
"""The names of a Llama model's tensors."""
NEUTRAL = {
    "rope.scaling.type": ("none", "linear"), "rope.scaling.factor": (0, 1), "rope.scaling.attn_factor": (1,),
    "rope.scale_linear": (1,), "expert_count": (0,), "expert_used_count": (0,), "attention.causal": (True,),
    "attention.sliding_window": (0,), "attention.clamp_kqv": (0,), "attention.max_alibi_bias": (0,),
    "attn_logit_softcapping": (0,), "final_logit_softcapping": (0,), "use_parallel_residual": (False,),
    "pooling_type": (0,), "tensor_data_layout": ("Meta AI original pth",),
}  # fmt: skip
"""Other keys, with the values at which they have no effect. Conversion loses these keys, so other values are
rejected."""
WITHOUT_EFFECT = ("rope.scaling.original_context_length", "rope.scaling.finetuned")
TOKENIZER = ("model", "pre", "tokens", "token_type", "token_type_count", "merges", "scores", "add_bos_token")
NEUTRAL_TOKENIZER = {"add_eos_token": (False,), "add_sep_token": (False,), "remove_extra_whitespaces": (False,),
                     "escape_whitespaces": (True,)}  # fmt: skip
AS_LLAMA3 = ("llama-bpe", "llama3", "llama-v3", "tekken")
"""Pre-tokenizers for which llama.cpp doesn't split a word that is itself a token, and adds a BOS token by default."""
BY_DIGIT = ("smollm", "starcoder", "refact", "command-r")
"""Pre-tokenizers that first split numbers into digits, and then split as GPT-2's does."""
SPLITS = ("gpt-2", "phi-2", "mpt", "olmo", "jais", "gigachat", "qwen2", "deepseek-r1-qwen", *AS_LLAMA3, *BY_DIGIT)
"""Pre-tokenizers (values of ``tokenizer.ggml.pre``) that conversion supports."""


def check_understood(place: str, path: Path, header: GgufHeader, tokenizer: bool) -> None:
    """Raise InputError for the first key or tensor in ``header`` that conversion would lose.

    ``tokenizer``: whether the tokenizer in the file is used. For architectures not in PROVEN, only the keys and tensors
    that scale rotary positions are checked.
    """
    lost = "a file without it, because a conversion would lose it, or the original model's folder"
    if found := _lost_key(header) or _lost_tensor(header):
        raise InputError(place, f"{found} of {path}", lost)
    if tokenizer and (found := _lost_of_tokenizer(header)):
        raise InputError(place, f"{found} of {path}", "a tokenizer that a conversion can preserve, or key tokenizer")


def adds_bos(header: GgufHeader) -> bool:
    """Return whether llama.cpp adds a BOS token at the start of texts."""
    by_default = header.values.get("tokenizer.ggml.model") == "llama" or split_of(header) in AS_LLAMA3
    return bool(header.values.get("tokenizer.ggml.add_bos_token", by_default))


def split_of(header: GgufHeader) -> str:
    """Return the name of a byte-level tokenizer's pre-tokenizer, or an empty string if the header doesn't name one."""
    return str(header.values.get("tokenizer.ggml.pre", ""))


def _lost_key(header: GgufHeader) -> str:
    start, proven = f"{header.architecture}.", header.architecture in PROVEN
    own = {key.removeprefix(start): value for key, value in header.values.items() if key.startswith(start)}
    if proven and (missing := [key for key in REQUIRED if key not in own]):
        return f"no key {start}{missing[0]}"
    widths = {key: own[key] for key in WIDTHS if key in own}
    if proven and all(type(own[key]) is int for key in ("embedding_length", "attention.head_count")):
        by_default = own["embedding_length"] // max(own["attention.head_count"], 1)
        width = widths.get("rope.dimension_count", by_default)
        if other := [key for key, value in widths.items() if value != width]:
            return f"key {start}{other[0]} ({widths[other[0]]}, not {width})"
    for key, value in own.items():
        if key in (*WITHOUT_EFFECT, *WIDTHS) or value in NEUTRAL.get(key, ()):
            continue
        if (key not in CARRIED or isinstance(value, list)) if proven else key.startswith("rope.scal"):
            return f"key {start}{key} ({str(value)[:40]})"
    return ""


def _lost_tensor(header: GgufHeader) -> str:
    layers, proven = header.values.get(f"{header.architecture}.block_count"), header.architecture in PROVEN
    for name in header.types:
        known = TENSORS.fullmatch(name)
        beyond = known and known[1] and (type(layers) is not int or int(known[1]) >= layers)
        if name.startswith("rope_") or (proven and (not known or beyond)):
            return f"tensor {name}"
    return ""


def _lost_of_tokenizer(header: GgufHeader) -> str:
    start = "tokenizer.ggml."
    own = {key.removeprefix(start): value for key, value in header.values.items() if key.startswith(start)}
    spaces: Collection[bool] = (True,) if own.get("model") == "llama" else (True, False)
    for key, value in own.items():
        if key in TOKENIZER or key.endswith(("_token_id", "_token_ids")):
            continue
        if value not in {**NEUTRAL_TOKENIZER, "add_space_prefix": spaces}.get(key, ()):
            return f"key {start}{key} ({str(value)[:40]})"
    if own.get("model") == "gpt2" and split_of(header) not in SPLITS:
        return f"split of texts {split_of(header)!r} (tokenizer.ggml.pre)"
    return "" if own.get("model") in ("gpt2", "llama") else f"tokenizer {own.get('model')!r}"
