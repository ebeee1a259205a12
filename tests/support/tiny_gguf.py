"""A GGUF file of a random Llama of two layers, as llama.cpp's converter lays it out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Types

LAYERS, HEADS, KV_HEADS, WIDTH, INNER = 2, 4, 2, 128, 160
CHAT = "{% for m in messages %}<|user|>{{ m['content'] }}{% endfor %}<|end|>"
NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
}  # fmt: skip
"""Parts of a Llama, by llama.cpp's names → by transformers'."""
SPECIAL = ("<|begin|>", "<|end|>", "<|user|>")


def byte_alphabet() -> list[str]:
    """Return the 256 characters that byte-level tokenizers write bytes with, in the order of the bytes (GPT-2)."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printed]
    spelled = {**{byte: chr(byte) for byte in printed}, **{byte: chr(256 + n) for n, byte in enumerate(others)}}
    return [spelled[byte] for byte in range(256)]


def full_name(name: str) -> str:
    """Return transformers' name of a tensor of a Llama that a GGUF file has."""
    *layer, part, end = name.split(".")
    return f"model.layers.{layer[1]}.{NAMES[part]}.{end}" if layer else f"{NAMES[part]}.{end}"


def permuted(rows: np.ndarray, heads: int) -> np.ndarray:
    """Return the rows of query or key in llama.cpp's order: the halves of each head's rotation interleaved."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def write_gguf(path: Path, kind: Types = Types.F32, more: Sequence[str] = (), **values: Any) -> dict[str, np.ndarray]:
    """Write the file; return its tensors as they are after dequantisation, under transformers' names.

    ``kind``: of the matrices. ``more``: names of more tensors. ``values``: more keys of the header, by their names with
    ``__`` for ``.``; None leaves one of the keys below out.
    """
    tokens = [*byte_alphabet(), "th", *SPECIAL]
    header: dict[str, Any] = {
        "general.type": "model",
        "llama.block_count": LAYERS,
        "llama.context_length": 512,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10000.0,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * 257 + [3] * len(SPECIAL),
        "tokenizer.ggml.merges": ["t h"],
        "tokenizer.ggml.bos_token_id": 257,
        "tokenizer.ggml.eos_token_id": 258,
        "tokenizer.chat_template": CHAT,
    }
    header |= {name.replace("__", "."): value for name, value in values.items()}
    architecture = header.pop("general.architecture", "llama")
    writer = gguf.GGUFWriter(path, architecture)
    for name, value in header.items():
        _add(writer, name, value)
    draws, whole = np.random.default_rng(0), dict[str, np.ndarray]()

    def add(name: str, rows: int, columns: int, heads: int = 0) -> None:
        drawn = (draws.standard_normal((rows, columns)) / columns**0.5).astype(np.float32)
        blocks = gguf.quantize(permuted(drawn, heads) if heads else drawn, kind)
        writer.add_tensor(name, blocks, raw_dtype=kind)
        read = gguf.dequantize(blocks, kind).astype(np.float32).reshape(rows, columns)
        if heads:
            read = read.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)
        whole[full_name(name)] = read

    def add_norm(name: str) -> None:
        whole[full_name(name)] = (1 + draws.standard_normal(WIDTH) / 10).astype(np.float32)
        writer.add_tensor(name, whole[full_name(name)])

    size = WIDTH // HEADS
    add("token_embd.weight", len(tokens), WIDTH)
    for layer in range(LAYERS):
        add(f"blk.{layer}.attn_q.weight", WIDTH, WIDTH, HEADS)
        add(f"blk.{layer}.attn_k.weight", KV_HEADS * size, WIDTH, KV_HEADS)
        add(f"blk.{layer}.attn_v.weight", KV_HEADS * size, WIDTH)
        add(f"blk.{layer}.attn_output.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
        add_norm(f"blk.{layer}.attn_norm.weight")
        add_norm(f"blk.{layer}.ffn_norm.weight")
    add_norm("output_norm.weight")
    add("output.weight", len(tokens), WIDTH)
    for name in more:
        writer.add_tensor(name, np.ones(KV_HEADS * size if name.endswith(("k.bias", "v.bias")) else WIDTH, np.float32))
    path.parent.mkdir(parents=True, exist_ok=True)
    for write in (
        writer.write_header_to_file,
        writer.write_kv_data_to_file,
        writer.write_tensors_to_file,
        writer.close,
    ):
        write()
    return whole


def _add(writer: gguf.GGUFWriter, name: str, value: Any) -> None:
    if isinstance(value, list):
        writer.add_array(name, value)
    elif isinstance(value, bool):
        writer.add_bool(name, value)
    elif isinstance(value, str):
        writer.add_string(name, value)
    elif isinstance(value, float):
        writer.add_float32(name, value)
    elif value is not None:
        writer.add_uint32(name, value)
