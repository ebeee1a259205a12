"""Checks of a generator's definition beyond the schema: what its engine needs, and what would have no effect there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError
from ragrelay.models.locations import check_adapter, check_model, check_window
from ragrelay.prompting.templates import Template

ENDPOINT_KEYS = (
    "base_url", "api_key_env", "tokenizer", "concurrency", "requests_per_minute", "max_retries", "request_seconds",
)  # fmt: skip
EITHER_KEYS = (
    "engine", "model", "revision", "prompt", "chat", "chat_template_kwargs", "thinking", "threads", "temperature",
    "top_k", "top_p", "min_p", "max_tokens", "stop", "flush_seconds", "tokens_per_second",
)  # fmt: skip
TOKENIZER_KEYS = ("max_model_len", "over_window", "trust_remote_code")


def check_generator(
    place: str, definition: Mapping[str, Any], given: Mapping[str, Any], template: Template, folder: Path
) -> None:
    """Raise InputError for a generator that can't work; ``given`` is its entry before defaults were filled in.

    ``place``: the entry's name as messages begin, an open quotation mark in it.
    """
    if template.system_kshot and not definition["chat"]:
        raise InputError(f"{place}.prompt'", "a template with system parts", "chat: true, or a template without")
    if definition["chat_template_kwargs"] and not definition["chat"]:
        raise InputError(f"{place}.chat_template_kwargs'", "arguments of a chat template", "chat: true")
    if definition["engine"] == "vllm":
        _refuse(place, given, ENDPOINT_KEYS, "engine: openai")
        weights = definition["load_format"] != "dummy"
        check_model(f"{place}.model'", definition["model"], folder, True, weights)
        check_window(f"{place}.max_tokens'", definition, folder)
        if "adapter" in definition:
            check_adapter(f"{place}.adapter'", definition["adapter"], folder)
        elif "adapter_revision" in definition:
            raise InputError(f"{place}.adapter_revision'", "a revision without adapter", "key adapter")
        return
    allowed = (*ENDPOINT_KEYS, *EITHER_KEYS, *TOKENIZER_KEYS)
    _refuse(
        place, given, [key for key in given if key not in allowed], "engine: vllm; an endpoint decides it by itself"
    )
    if "tokenizer" not in definition:
        _refuse(place, given, TOKENIZER_KEYS, "key tokenizer beside it, to count the prompts' tokens with")
    elif not (folder / definition["tokenizer"]).exists() and "/" not in definition["tokenizer"]:
        raise InputError(f"{place}.tokenizer'", f"no folder {definition['tokenizer']}", "a folder or a hub id")
    if definition["over_window"] == "truncate" and "max_model_len" not in definition:
        raise InputError(f"{place}.over_window'", "truncate without a window", "key max_model_len")


def _refuse(place: str, given: Mapping[str, Any], keys: Any, expected: str) -> None:
    for key in keys:
        if key in given:
            raise InputError(f"{place}.{key}'", "a key without effect", expected)
