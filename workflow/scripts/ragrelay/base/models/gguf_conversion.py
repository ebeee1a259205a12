"""Convert GGUF files into the format that vLLM loads, and cache the result for each file and dtype."""

import logging
import shutil
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from ragrelay.base.display.terminal import tell
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic_folder, write_json
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.file_hashes import usable, write_hashes
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.models.gguf_files import ENDS, TENSOR_TYPES, GgufHeader, gguf_header
from ragrelay.base.models.gguf_understood import AS_LLAMA3, BY_DIGIT, PROVEN, adds_bos, check_understood, split_of
from ragrelay.base.models.hubs import check_cached, fetch
from ragrelay.base.models.locations import is_gguf_model, local_path, model_identity, model_path
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry

log = logging.getLogger(__name__)

VERSION = 2
"""Increase this number when a change to the code changes the resulting tensors or tokenizer."""
KEY = "converted"
"""The key in a generator's definition that tells jobs how to convert its GGUF file. Users can't set this key."""
EXPECTED = "another quantisation of the model, or the model's own folder"


def conversion(definition: GeneratorEntry, cache_dir: str | Path) -> dict[str, Any] | None:
    """Return the settings for converting a generator's GGUF file, or None if the model isn't a GGUF file.

    The keys are path (the result's path in ``cache_dir``), model, revision, dtype (bfloat16 by default) and tokenizer
    (None for the tokenizer in the file).
    """
    if not is_gguf_model(definition["model"]):
        return None
    model, revision, tokenizer = definition["model"], definition.get("revision"), definition.get("tokenizer")
    dtype = definition["dtype"] if definition["dtype"] != "auto" else "bfloat16"
    decisive = {
        "version": VERSION,
        "model": model_identity(model, revision, cache_dir=Path(cache_dir)),
        "dtype": dtype,
        "tokenizer": model_identity(tokenizer, cache_dir=Path(cache_dir)) if tokenizer else None,
    }
    path = str(Path(cache_dir) / "models" / value_hash(decisive, 24))
    return {"path": path, "model": model, "revision": revision, "dtype": dtype, "tokenizer": tokenizer}


def model_source(generator: GeneratorEntry, part: Literal["model", "tokenizer"] = "model") -> tuple[str, str | None]:
    """Return the name and revision to pass to ``from_pretrained`` for a generator's `model` or `tokenizer` (``part``).

    For a GGUF file, the model and the tokenizer are both in the folder with the converted file. If this folder is
    damaged or missing, the file is converted again.
    """
    if KEY in generator:
        convert_model(generator[KEY])  # type: ignore[literal-required]
        return str(generator[KEY]["path"]), None  # type: ignore[literal-required]
    return model_path(generator.get(part, generator["model"])), generator.get("revision")


def convert_model(wanted: Mapping[str, Any]) -> dict[str, object]:
    """Convert a GGUF file, unless the result is cached, and return a receipt. ``wanted``: settings from conversion.

    The result's folder is written under a temporary name and then renamed, so that jobs never see an incomplete folder.
    If two jobs convert the same file, the first to finish wins. Raises InputError if the file can't be converted.
    """
    began, folder = time.monotonic(), Path(wanted["path"])
    place = f"generator model {wanted['model']!r}"
    source = local_path(wanted["model"])
    if not usable(folder, "conversion"):
        check_writable("no complete conversion is in", folder)
        if source is None:
            check_cached(wanted["model"], wanted["revision"], place)
            source = fetch(wanted["model"], wanted["revision"], place)
        header = gguf_header(source)
        check_understood(place, source, header, wanted["tokenizer"] is None)
        if header.architecture not in PROVEN:
            warning = (
                f"{wanted['model']}: the conversion of architecture {header.architecture} hasn't been tested "
                f"(only {', '.join(PROVEN)}); read some answers before you trust their scores"
            )
            log.warning("%s", warning)
            tell(f"ragrelay: warning: {warning}")
        with atomic_folder(folder) as temporary:
            described = _convert(source, header, temporary, wanted, place)
            write_json(described, temporary / "conversion.json")
            write_hashes(temporary)
    return {**wanted, "path": f"{folder.parent.name}/{folder.name}", "seconds": round(time.monotonic() - began, 1)}


def _convert(
    source: Path, header: GgufHeader, folder: Path, wanted: Mapping[str, Any], place: str
) -> dict[str, object]:
    """Write the GGUF file's weights, configuration and tokenizer to ``folder``, and return a description."""
    import torch
    from huggingface_hub import save_torch_state_dict
    from transformers import AutoModelForCausalLM, GgufConfig

    tokenizer = _tokenizer(source, header, wanted, place)
    try:
        model, loaded = AutoModelForCausalLM.from_pretrained(
            str(source.parent),
            gguf_file=source.name,
            dtype=getattr(torch, wanted["dtype"]),
            quantization_config=GgufConfig(gguf_file=source.name, dequantize=True),
            output_loading_info=True,
        )
    except Exception as error:  # transformers may raise anything for a file that it can't convert
        raise _refused(place, source, error) from error
    # transformers fills missing tensors with random numbers and only logs that.
    for what in ("missing_keys", "mismatched_keys", "unexpected_keys", "error_msgs"):
        if loaded.get(what):
            found = (
                f"{source}, of which transformers says {what.replace('_', ' ')}: {sorted(map(str, loaded[what]))[0]}"
            )
            raise InputError(place, found, EXPECTED)
    # If tensors are tied, keep only the one the others are tied to, which vLLM reads and transformers writes.
    state = {name: tensor for name, tensor in model.state_dict().items() if name not in model.all_tied_weights_keys}
    # For unproven architectures, transformers silently drops tensors that it doesn't know.
    if header.architecture not in PROVEN and len(header.types) > len(state):
        found = f"{len(header.types)} tensors in {source}, of which transformers reads {len(state)}"
        raise InputError(place, found, "a file whose tensors transformers can all read, or the original model's folder")
    if not_finite := [name for name, tensor in state.items() if not torch.isfinite(tensor).all()]:
        raise InputError(
            place, f"tensor {not_finite[0]} of {source} with values that are not finite numbers", "finite weights"
        )
    config = model.config
    for name in ("quantization_config", "_name_or_path"):
        if hasattr(config, name):
            delattr(config, name)
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    ends = [end for name in ENDS if (end := header.token_id(name)) is not None]
    if wanted["tokenizer"] is None and ends:
        write_json({"eos_token_id": list(dict.fromkeys(ends))}, folder / "generation_config.json")
    save_torch_state_dict(state, folder)
    # safetensors makes its files readable for one user only, but other users' jobs read the cache too.
    for file in folder.glob("*.safetensors"):
        shutil.copymode(folder / "config.json", file)
    return {
        "architecture": header.architecture,
        "name": header.values.get("general.name"),
        "tensors": dict(Counter(TENSOR_TYPES[kind][0] for kind in header.types.values())),
        "parameters": sum(tensor.numel() for tensor in model.parameters()),
        "version": VERSION,
    }


def _tokenizer(source: Path, header: GgufHeader, wanted: Mapping[str, Any], place: str) -> Any:
    """Return the tokenizer in ``wanted``, or else the file's own, which adds a BOS if the file says so."""
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoTokenizer

    other = wanted["tokenizer"]
    if other is not None:
        check_cached(other, None, f"generator's tokenizer {other!r}")
    try:
        if other is not None:
            return AutoTokenizer.from_pretrained(model_path(other))
        tokenizer: Any = AutoTokenizer.from_pretrained(str(source.parent), gguf_file=source.name)
    except Exception as error:  # transformers may raise anything for a tokenizer that it can't build
        raise _refused(place, other or source, error) from error
    if header.values.get("tokenizer.ggml.model") == "gpt2":
        tokenizer.backend_tokenizer.model.ignore_merges = split_of(header) in AS_LLAMA3
        if split_of(header) in BY_DIGIT:
            splits = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)])
            tokenizer.backend_tokenizer.pre_tokenizer = splits
    adds, bos = adds_bos(header), header.token_id("bos")
    if bos is None or (tokenizer("a")["input_ids"][:1] == [bos]) == adds:
        return tokenizer
    token = header.tokens[bos]
    begun = f"{token} " if adds else ""
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{begun}$A", pair=f"{begun}$A $B", special_tokens=[(token, bos)] if adds else []
    )
    return tokenizer


def _refused(place: str, source: Path | str, error: Exception) -> InputError:
    found = f"{source}, which transformers can't convert ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    return InputError(place, found, EXPECTED)
