"""Check, before a model is loaded, that its files are complete and that the libraries support the model's type.

At startup, only the beginning and end of each file are read; ``tokenizer.json`` is read completely when hashed. A type
is supported if it appears in the source file where a library lists model types. The file is read as text, because
importing the library would take seconds.
"""

import functools
import importlib.util
import json
import re
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.json_values import FAULTS, json_object
from ragrelay.base.models.gguf_files import gguf_header, is_gguf
from ragrelay.base.models.gguf_understood import check_understood

TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "tekken.json", "spiece.model", "spm.model",
    "sentencepiece.bpe.model",
)  # fmt: skip
LONGEST_HEADER = 100_000_000
"""The maximum length of a header, in bytes, that the library safetensors accepts."""
WHOLE = "a complete file; copy or download it again"
HEAD = 1 << 20
"""Number of bytes to read from the beginning of a tokenizer.json, where its added tokens are."""
MODEL_TYPES = (
    ("transformers", "models/auto/auto_mappings.py"),
    ("transformers", "models/auto/configuration_auto.py"),
    ("vllm", "transformers_utils/config.py"),
)
GGUF_ARCHITECTURES = (
    ("transformers", "modeling_gguf_pytorch_utils.py"),
    ("transformers", "integrations/ggml.py"),
    ("transformers", "integrations/gguf/gguf_config_mapping.py"),
)
QUANTIZATIONS = (("vllm", "model_executor/layers/quantization/__init__.py"),)


def check_weights(place: str, folder: Path) -> None:
    """Raise InputError if weights are missing from ``folder``, or if a .safetensors file is damaged."""
    files = sorted(folder.glob("*.safetensors"))
    if not files and not any(path.stat().st_size for path in folder.glob("*.bin")):
        raise InputError(place, f"no weights in {folder}", "model.safetensors")
    for path in files:
        check_safetensors(place, path)
    for index in sorted(folder.glob("*.safetensors.index.json")):
        listed = json_object(index, place, WHOLE).get("weight_map")
        names = set(map(str, listed.values())) if isinstance(listed, dict) else set()
        missing = sorted(name for name in names if not (folder / name).is_file())
        if missing or not names:
            raise InputError(
                place,
                f"no {missing[0]}, which {index} lists" if missing else f"no weight_map in {index}",
                "an index whose weight files all exist",
            )


def check_safetensors(place: str, path: Path) -> None:
    """Raise InputError if ``path`` isn't a safetensors file, or if the file's size doesn't match its header.

    A safetensors file (https://github.com/huggingface/safetensors#format) consists of the header's length (8 bytes,
    little-endian), the header (a JSON object with each tensor's ``data_offsets``) and the tensors' bytes.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(length)) if 2 <= length <= min(size - 8, LONGEST_HEADER) else None
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]  # type: ignore[union-attr]
            expected_size = 8 + length + max(ends, default=0)
        except (*FAULTS, AttributeError, TypeError, KeyError, IndexError):
            raise InputError(place, f"{path} ({size:,} bytes), which isn't a valid safetensors file", WHOLE) from None
    if size != expected_size:
        raise InputError(place, f"{path} ({size:,} bytes), but its header describes {expected_size:,} bytes", WHOLE)


def check_tokenizer_ends(place: str, folder: Path) -> None:
    """Raise InputError if ``folder`` contains no tokenizer, or contains an empty or truncated tokenizer file."""
    files = [folder / name for name in TOKENIZER_FILES if (folder / name).is_file()]
    if not files:
        raise InputError(place, f"no tokenizer in {folder}", "one of " + ", ".join(TOKENIZER_FILES))
    for path in files:
        with path.open("rb") as file:
            first = file.read(64)
            file.seek(max(path.stat().st_size - 64, 0))
            last = file.read()
        if not first:
            raise InputError(place, f"{path}, which is empty", WHOLE)
        ends = (first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1], last.rstrip()[-1:])
        if path.suffix == ".json" and ends != (b"{", b"}"):
            raise InputError(place, f"{path}, which is truncated or not a JSON object", WHOLE)


def check_tokenizer_json(path: Path) -> None:
    """Raise InputError unless a ``tokenizer.json`` contains a JSON object with the key ``model``."""
    place = f"model {path.parent}"
    if not isinstance(json_object(path, place, WHOLE).get("model"), dict):
        raise InputError(path, "no mapping under key 'model'", "a file in the tokenizers library's format")


def check_chat_template(place: str, folder: Path) -> None:
    """Raise InputError if a tokenizer folder or GGUF file has no chat template, unless the tokenizer is Mistral's."""
    if is_gguf(folder):
        if not gguf_header(folder).chat_template:
            raise InputError(
                place,
                f"no chat template in {folder}",
                "a tokenizer with a chat template (key tokenizer), or chat: false",
            )
        return
    if (folder / "tekken.json").is_file() or (folder / "chat_template.jinja").is_file():
        return
    path = folder / "tokenizer_config.json"
    given = (json_object(path, place, "a tokenizer's configuration") if path.is_file() else {}).get("chat_template")
    entries = given if isinstance(given, list) else []
    named = [str(entry.get("name")) for entry in entries if isinstance(entry, dict)]
    named += [file.stem for file in sorted(folder.glob("additional_chat_templates/*.jinja"))]
    if "default" in named or (given and not isinstance(given, list)):
        return
    expected = "chat_template.jinja, key chat_template in tokenizer_config.json, or chat: false"
    found = f"no chat template in {folder}"
    if named:
        found = f"the chat templates {', '.join(named)} in {folder}, but none named default"
    elif (folder / "chat_template.json").is_file():
        found += " except chat_template.json, which only image processors read"
    raise InputError(place, found, expected)


def added_tokens(folder: Path) -> dict[str, bool]:
    """Return the tokens that a tokenizer adds to its vocabulary, each mapped to whether it is a special token.

    Only the beginning of ``tokenizer.json`` is read, because the tokenizers library writes added tokens there.
    ``folder`` may also be a GGUF file.
    """
    if is_gguf(folder):
        return gguf_header(folder).added_tokens
    path = folder / "tokenizer.json"
    listed = _added_tokens(path) if path.is_file() else []
    try:
        tokens = {str(token["content"]): bool(token["special"]) for token in listed}
    except (KeyError, TypeError):
        raise InputError(path, "added tokens without keys content and special", WHOLE) from None
    described = _tokenizer_config(folder).get("added_tokens_decoder")
    for token in described.values() if isinstance(described, dict) else ():
        if isinstance(token, dict) and "content" in token:
            tokens[str(token["content"])] = bool(token.get("special"))
    return tokens


def _added_tokens(path: Path) -> list[Any]:
    with path.open("rb") as file:
        head = file.read(HEAD).decode("utf-8", "ignore")
    begun = re.search(r'"added_tokens"\s*:\s*(?=\[)', head)
    if begun is None:
        return []
    try:
        return list(json.JSONDecoder().raw_decode(head, begun.end())[0])
    except FAULTS:  # the list exceeds HEAD or isn't a list
        return list(json_object(path, f"model {path.parent}", WHOLE).get("added_tokens") or [])


def chat_templates(folder: Path) -> str:
    """Return the text of all chat templates in a tokenizer folder or a GGUF file."""
    if is_gguf(folder):
        return gguf_header(folder).chat_template
    files = [folder / "chat_template.jinja", *sorted(folder.glob("additional_chat_templates/*.jinja"))]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file()]
    return "\n".join([*texts, str(_tokenizer_config(folder).get("chat_template") or "")])


def _tokenizer_config(folder: Path) -> dict[str, object]:
    path = folder / "tokenizer_config.json"
    return json_object(path, f"model {folder}", "a tokenizer's configuration") if path.is_file() else {}


def check_model_type(place: str, path: Path, described: Mapping[str, object], own_code: bool) -> None:
    """Raise InputError if no library supports a model's type. ``own_code``: whether the model may run its own code."""
    kind = described.get("model_type")
    if kind is None or (own_code and described.get("auto_map")):
        return
    if not isinstance(kind, str) or not _listed(kind, MODEL_TYPES):
        expected = "a model type that this version of transformers or vLLM supports"
        if described.get("auto_map"):
            expected += ", or, for a generator, trust_remote_code: true, because the model comes with its own code"
        raise InputError(place, f"model_type {kind!r} in {path}", expected)


def check_gguf_model(place: str, path: Path, tokenizer: bool) -> None:
    """Raise InputError if a GGUF file isn't a complete model or can't be converted without loss.

    ``tokenizer``: whether the tokenizer in the file is used.
    """
    header = gguf_header(path)
    if header.values.get("general.type", "model") != "model":
        raise InputError(place, f"{path}, a GGUF file of type {header.values['general.type']!r}", "a model")
    if header.values.get("split.count", 0) > 1:
        found = f"{path}, one of {header.values['split.count']} parts of a model"
        raise InputError(place, found, "a single file; join the parts with llama-gguf-split --merge")
    if tokenizer and not header.tokens:
        raise InputError(place, f"{path}, which contains no tokenizer", "a tokenizer in the file, or key tokenizer")
    if not _listed(header.architecture, GGUF_ARCHITECTURES):
        found = f"architecture {header.architecture!r} of {path}"
        raise InputError(place, found, "an architecture that transformers can convert, or the original model's folder")
    check_understood(place, path, header, tokenizer)


def check_quantization(place: str, method: str) -> None:
    """Raise InputError if the quantisation ``method`` is unknown to vLLM and no installed plugin could add it."""
    if _listed(method, QUANTIZATIONS):
        return
    plugins = [plugin.value for plugin in entry_points(group="vllm.general_plugins")]
    if all(value.startswith("vllm.") for value in plugins):
        raise InputError(place, repr(method), "a quantisation method that this version of vLLM supports, e.g. 'fp8'")


def _listed(name: str, files: tuple[tuple[str, str], ...]) -> bool:
    """Return whether ``name`` is a string in the installed libraries' ``files``; true if these don't exist."""
    texts = [text for package, inside in files if (text := _text(package, inside))]
    return not texts or (name.strip() != "" and any(f'"{name}"' in text for text in texts))


@functools.cache
def _text(package: str, inside: str) -> str:
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).parent / inside if spec and spec.origin else None
    return path.read_text(encoding="utf-8") if path and path.is_file() else ""
