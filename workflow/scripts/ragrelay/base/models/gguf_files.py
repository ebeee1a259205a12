"""Read and check the header of a GGUF file, llama.cpp's format for a model's weights and tokenizer.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The header is read whenever a study starts, so we
don't use the package gguf, which takes seconds to read a vocabulary.
"""

import functools
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ragrelay.base.errors import InputError

SUFFIX = ".gguf"
VERSIONS = (2, 3)
SCALARS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
"""The struct format for each type number in the file."""
TEXT, LIST = 8, 9
CONTROL, USER_DEFINED = 3, 4
"""Types of tokens that are matched in texts before tokenization. Special tokens have the first type."""
TENSOR_TYPES = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 40), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36), 41: ("Q1_0", 128, 18),
}  # fmt: skip
"""Tensor types by ggml's number: name, values per block, bytes per block (gguf 0.19.0, constants.py)."""
LONGEST_TEXT = 1 << 28
MOST_ITEMS = 1 << 28
COMPLETE = "a complete GGUF file; copy or download it again"
ENDS = ("eos", "eot", "eom")
"""Tokens that end an answer, as llama.cpp names them."""


def is_gguf(name: str | Path) -> bool:
    """Return whether ``name`` is a GGUF file's name."""
    return str(name).lower().endswith(SUFFIX)


@dataclass(frozen=True)
class GgufHeader:
    """The header of a GGUF file. ``values`` maps keys to values; ``types`` maps tensor names to ggml's type numbers."""

    values: dict[str, Any]
    types: dict[str, int]

    @property
    def architecture(self) -> str:
        """The name of the model's architecture in llama.cpp."""
        return str(self.values.get("general.architecture"))

    @property
    def window(self) -> int | None:
        """The model's window in tokens, or None if the header doesn't specify a window."""
        length = self.values.get(f"{self.architecture}.context_length")
        return length if type(length) is int else None

    @property
    def tokens(self) -> list[str]:
        """The tokenizer's vocabulary; empty if the file contains no tokenizer."""
        return list(self.values.get("tokenizer.ggml.tokens") or [])

    @property
    def added_tokens(self) -> dict[str, bool]:
        """The tokens that are matched in texts before tokenization, each mapped to whether it is a special token."""
        types = self.values.get("tokenizer.ggml.token_type") or []
        typed = zip(self.tokens, types, strict=False)
        return {token: kind == CONTROL for token, kind in typed if kind in (CONTROL, USER_DEFINED)}

    @property
    def chat_template(self) -> str:
        """The model's chat template; empty if the file contains none."""
        return str(self.values.get("tokenizer.chat_template") or "")

    def token_id(self, name: str) -> int | None:
        """Return the id of the token ``name`` (bos, eos, …), or None if the header has no such token."""
        value = self.values.get(f"tokenizer.ggml.{name}_token_id")
        return value if type(value) is int else None


def gguf_header(path: Path) -> GgufHeader:
    """Read a GGUF file's header. Raises InputError if the file is missing, truncated or in another format."""
    try:
        state = path.stat()
    except FileNotFoundError:
        raise InputError(f"model {path}", "no such file", "a GGUF file") from None
    return _header(path, state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _header(path: Path, size: int, _: int) -> GgufHeader:
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise InputError(f"model {path}", "a file in another format", COMPLETE)
        try:
            (version,) = _numbers(file, "I", 1)
            if version not in VERSIONS:
                raise InputError(f"model {path}", f"GGUF version {version}", f"version {VERSIONS[-1]}")
            tensors, pairs = _numbers(file, "Q", 2)
            values = {_text(file): _value(file) for _ in range(pairs)}
            places = [_tensor(file) for _ in range(tensors)]
        except (EOFError, OverflowError, KeyError, MemoryError):
            raise InputError(f"model {path}", f"a damaged or truncated header ({size} bytes)", COMPLETE) from None
        start = file.tell()
    alignment = values.get("general.alignment", 32)
    data = -(-start // alignment) * alignment
    end = max((data + offset + _bytes(path, name, kind, shape) for name, shape, kind, offset in places), default=data)
    if size < end:
        raise InputError(f"model {path}", f"{size:,} bytes, although its header describes {end:,}", COMPLETE)
    return GgufHeader(values, {name: kind for name, _, kind, _ in places})


def _bytes(path: Path, name: str, kind: int, shape: tuple[int, ...]) -> int:
    if kind not in TENSOR_TYPES:
        expected = f"one of ggml's types, up to {max(TENSOR_TYPES)}"
        raise InputError(f"model {path}", f"tensor {name} of the unknown type {kind}", expected)
    _, items, width = TENSOR_TYPES[kind]
    return math.prod(shape) // items * width


def _numbers(file: BinaryIO, form: str, count: int) -> tuple[Any, ...]:
    packed = struct.Struct(f"<{count}{form}")
    found = file.read(packed.size)
    if len(found) < packed.size:
        raise EOFError
    return packed.unpack(found)


def _text(file: BinaryIO) -> str:
    (length,) = _numbers(file, "Q", 1)
    if length > LONGEST_TEXT:
        raise EOFError
    found = file.read(length)
    if len(found) < length:
        raise EOFError
    return found.decode("utf-8", "replace")


def _value(file: BinaryIO) -> Any:
    (kind,) = _numbers(file, "I", 1)
    if kind == TEXT:
        return _text(file)
    if kind != LIST:
        return _numbers(file, SCALARS[kind], 1)[0]
    (of,), (count,) = _numbers(file, "I", 1), _numbers(file, "Q", 1)
    if count > MOST_ITEMS:
        raise EOFError
    return [_text(file) for _ in range(count)] if of == TEXT else list(_numbers(file, SCALARS[of], count))


def _tensor(file: BinaryIO) -> tuple[str, tuple[int, ...], int, int]:
    name = _text(file)
    (dimensions,) = _numbers(file, "I", 1)
    if dimensions > 8:
        raise EOFError
    shape = _numbers(file, "Q", dimensions)
    (kind,), (offset,) = _numbers(file, "I", 1), _numbers(file, "Q", 1)
    return name, shape, kind, offset
