"""Find the marks of reasoning models' thoughts (key ``thinking``), and remove the thoughts from answers.

Source: the reasoning parsers of vLLM 0.32.0 (``vllm/reasoning``, ``vllm/parser``), which name the marks of a family;
for Apertus, those of a later version (``apertus_reasoning_parser.py``); for Kimi-VL and EXAONE Deep, which have no
parser there, the models' own chat templates. A mark may be one token or several, special or not, by tokenizer.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.models.locations import local_path
from ragrelay.base.models.model_files import added_tokens, chat_templates

NO_THOUGHT = "none"
"""Value of ``thinking`` for a model that does not think, or whose thoughts are part of its answers."""
THINKING = "thinking"
"""The finish_reason of an answer that is missing because the thought before it did not end."""


class Family(NamedTuple):
    """The marks of a family of models. The answer follows the last ``end``."""

    start: str
    end: str
    signs: tuple[str, ...] = ()
    """Tokens besides the marks that only these models have."""


FAMILIES = (
    # Qwen3, QwQ, DeepSeek-R1 to V4, GLM, Ling 3, MiniMax-M1 and M2, MiniCPM-V, Kimi-K2, Nemotron, OLMo 3, Step, MiMo,
    # Granite 4, Phi-4, Poolside, ERNIE 4.5, Hunyuan A13B, Hy 3 and 4
    Family("<think>", "</think>"),
    # Magistral, Ministral
    Family("[THINK]", "[/THINK]"),
    # gpt-oss: channels of a message each, the answer's is the final one
    Family("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", ("<|channel|>",)),
    # Gemma 4
    Family("<|channel>thought", "<channel|>", ("<|channel>",)),
    # Command A
    Family("<|START_THINKING|>", "<|END_THINKING|>"),
    # Seed-OSS
    Family("<seed:think>", "</seed:think>"),
    # MiniMax-M3
    Family("<mm:think>", "</mm:think>"),
    # PLaMo 3
    Family("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    # Inkling: blocks of a message each
    Family("<|content_thinking|>", "<|content_text|>"),
    # Muse Glimmer: messages to itself, then to the user
    Family("to=self<|message|>", "to=user<|message|>"),
    # Kimi-K3
    Family("<|open|>think<|sep|>", "<|close|>think<|sep|>", ("<|open|>", "<|close|>")),
    # K2 Horizon, by effort
    Family("<ifm|think>", "</ifm|think>"),
    Family("<ifm|think_fast>", "</ifm|think_fast>"),
    Family("<ifm|think_faster>", "</ifm|think_faster>"),
    # Apertus
    Family("<|inner_prefix|>", "<|inner_suffix|>"),
    # Kimi-VL
    Family("◁think▷", "◁/think▷"),
    # EXAONE Deep
    Family("<thought>", "</thought>"),
    # Granite 3: plain words
    Family("Here is my thought process:", "Here is my response:"),
)
WRAPS = (
    ("<answer>", "</answer>"),  # Hunyuan A13B
    ("<response>", "</response>"),  # ERNIE 4.5
    ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),  # Kimi-K3
)
"""Texts that some models write before and after the answer that follows a thought."""
SUFFIXED = re.compile(r"</?(think:[^\s<>]+)>")
"""Marks of Hy 3 and 4 (Hunyuan), whose suffix differs by checkpoint."""
SPECIAL = re.compile(r"<\||\|>|\[/?[A-Z_]+\]")
"""Pattern of marks that are special tokens, used for a hub's tokenizer, which a start can't read."""


def thought_marks(generator: Mapping[str, Any]) -> list[str] | None:
    """Return start and end mark of the generator's thoughts; None if its answers are kept whole."""
    marks = generator.get("thinking")
    return None if marks == NO_THOUGHT else marks


def keeps_special_tokens(generator: Mapping[str, Any], folder: Path = Path()) -> bool:
    """Return whether the marks are special tokens. Texts in the store keep these, but no other special tokens.

    A local tokenizer tells; otherwise the spelling of the marks decides. It is part of the fingerprint, because earlier
    versions did not keep the marks in the text of such an answer.
    """
    marks = thought_marks(generator)
    if marks is None:
        return False
    name = generator.get("tokenizer", generator["model"])
    path = local_path(name, folder)
    local = added_tokens(path) if path else {}
    written_so = any(SPECIAL.search(mark) for mark in marks)
    return written_so or has_any(marks, [text for text, is_special in local.items() if is_special])


def has_any(marks: Collection[str], tokens: Collection[str]) -> bool:
    """Return whether one of the ``tokens`` is in one of the ``marks``."""
    return any(token in mark for token in tokens for mark in marks)


def check_folder(place: str, folder: Path) -> None:
    """Raise InputError if a local tokenizer has marks of thought. ``place`` is the missing key."""
    templates = chat_templates(folder)
    _check_unmarked(place, f"nothing, while the tokenizer in {folder}", added_tokens(folder), templates, "")


def check_tokenizer_marks(generator: Mapping[str, Any], tokenizer: Any, special: Collection[str]) -> None:
    """Raise InputError if the loaded ``tokenizer`` has marks of thought and the key ``thinking`` is missing.

    Also if the marks are ``special`` tokens and the fingerprint was made without knowing it.
    """
    place = f"generator of model {generator['model']!r}"
    if "thinking" not in generator:
        template = str(tokenizer.chat_template or "")
        _check_unmarked(place, "no key thinking, while its tokenizer", tokenizer.get_vocab(), template, "thinking: ")
    elif (marks := thought_marks(generator)) and has_any(marks, special) and not keeps_special_tokens(generator):
        found = f"marks {json.dumps(marks, ensure_ascii=False)} of special tokens that are written as plain text"
        raise InputError(place, found, "the model in a local folder, so that its special tokens are known at the start")


def _check_unmarked(place: str, found: str, tokens: Collection[str], template: str, key: str) -> None:
    """Raise InputError if tokens or template have marks of thought. ``key`` precedes the marks in the message."""
    names = dict.fromkeys(name for text in (*tokens, template) for name in SUFFIXED.findall(text))
    suffixed = [Family(f"<{name}>", f"</{name}>") for name in names]
    has = [(sign, family) for family in (*FAMILIES, *suffixed) if (sign := _sign(family, tokens, template))]
    if has:
        expected = " or ".join(json.dumps([family.start, family.end], ensure_ascii=False) for _, family in has)
        thinks_not = f"{NO_THOUGHT} for answers without thoughts"
        raise InputError(place, f"{found} has {has[0][0]!r}, a mark of thought", f"{key}{expected}, or {thinks_not}")


def _sign(family: Family, tokens: Collection[str], template: str) -> str | None:
    """Return the sign by which a tokenizer or its chat template belongs to the ``family``."""
    signs = (family.start, family.end, *family.signs)
    return next((sign for sign in signs if sign in tokens or sign in template), None)


def without_thinking(frame: pl.DataFrame, marks: Sequence[str]) -> pl.DataFrame:
    """Remove the text up to the last end mark from each answer in ``frame`` (answer, finish_reason, …).

    ``marks``: start and end. The start mark may be missing, as when the chat template writes it. Without an end mark,
    an answer that has a start mark or was ended by max_tokens is missing (null, finish_reason THINKING), because the
    model was still thinking. The texts of WRAPS around an answer are removed, too. Token counts and log-probabilities
    stay those of the whole text.
    """
    start, end = marks
    answer = pl.col("answer")
    ended = answer.str.contains(end, literal=True)
    begun = answer.str.starts_with(start) | (pl.col("finish_reason") == "length")
    after = answer.str.split(end).list.last().str.strip_chars()
    left = pl.when(ended).then(after).otherwise(answer)
    for opening, closing in map(partial(map, re.escape), WRAPS):
        left = left.str.replace(rf"(?s)^{opening}\s*(.*?)\s*(?:{closing}.*)?$", "$1")
    thinking = answer.is_not_null() & ~ended & begun
    return frame.with_columns(
        pl.when(~thinking).then(left).alias("answer"),
        pl.when(thinking).then(pl.lit(THINKING)).otherwise("finish_reason").alias("finish_reason"),
    )
