"""Find the marks around reasoning models' thoughts (key ``thinking``), and separate thoughts from answers.

A model family's ``source`` says where its marks come from: by default, vLLM's parsers (``vllm/reasoning``,
``vllm/parser``). Depending on the tokenizer, a mark consists of one or more tokens, which may be special tokens.
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
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry

NO_THOUGHT, AUTO = "none", "auto"
"""Values of ``thinking``: no marks, because thoughts don't occur or belong to answers; or the tokenizer's marks."""
BUDGET = 4096
"""Maximum tokens in a thought if ``thinking`` sets no budget and the window has room for that many."""
THINKING = "thinking"
"""The finish_reason of an answer that is missing because the thought before it didn't end."""
ENDED, CUT, UNFINISHED, NO_END = "mark", "budget", "unfinished", "none"
"""How a thought ended: at its end mark; at its budget, after which the end mark is appended; not at all, because the
model ended the text inside the thought; or there was no thought."""


VLLM = "vLLM 0.32.0's reasoning parsers"


class Family(NamedTuple):
    """The thought marks of a family of models. The answer follows the last end mark."""

    start: str
    end: str
    signs: tuple[str, ...] = ()
    """Other tokens by which the family is recognised, because only its models have them."""
    models: str = ""
    source: str = VLLM


FAMILIES = (
    Family(
        "<think>", "</think>", (),
        "Qwen3, QwQ, DeepSeek-R1 to V4, GLM, Ling 3, MiniMax-M1 and M2, MiniCPM-V, Kimi-K2, Nemotron, OLMo 3, Step, "
        "MiMo, Granite 4, Phi-4, Poolside, ERNIE 4.5, Hunyuan A13B; Hy 3 and 4, with a checkpoint-specific suffix",
    ),
    Family("[THINK]", "[/THINK]", (), "Magistral, Ministral"),
    Family(
        "<|channel|>analysis<|message|>", "<|channel|>final<|message|>", ("<|channel|>",),
        "gpt-oss: each message has a channel; the answer is in `final`",
    ),
    Family("<|channel>thought", "<channel|>", ("<|channel>",), "Gemma 4"),
    Family("<|START_THINKING|>", "<|END_THINKING|>", (), "Command A"),
    Family("<seed:think>", "</seed:think>", (), "Seed-OSS"),
    Family("<mm:think>", "</mm:think>", (), "MiniMax-M3"),
    Family("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", (), "PLaMo 3"),
    Family("<|content_thinking|>", "<|content_text|>", (), "Inkling: one block per message"),
    Family("to=self<|message|>", "to=user<|message|>", (), "Muse Glimmer: messages to itself, then one to the user"),
    Family("<|open|>think<|sep|>", "<|close|>think<|sep|>", ("<|open|>", "<|close|>"), "Kimi-K3"),
    Family("<ifm|think>", "</ifm|think>", (), "K2 Horizon"),
    Family("<ifm|think_fast>", "</ifm|think_fast>", (), "K2 Horizon, fast"),
    Family("<ifm|think_faster>", "</ifm|think_faster>", (), "K2 Horizon, faster"),
    Family("<|inner_prefix|>", "<|inner_suffix|>", (), "Apertus", "Apertus's parser in a later vLLM version"),
    Family("◁think▷", "◁/think▷", (), "Kimi-VL", "the model's chat template"),
    Family("<thought>", "</thought>", (), "EXAONE Deep", "the model's chat template"),
    Family(
        "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", (), "Apriel 1.6, whose marks are ordinary text",
        "the model's chat template",
    ),
    Family("Here is my thought process:", "Here is my response:", (), "Granite 3, whose marks are ordinary text"),
)  # fmt: skip
WRAPS = (
    ("<answer>", "</answer>"),  # Hunyuan A13B
    ("<response>", "</response>"),  # ERNIE 4.5
    ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),  # Kimi-K3
)
"""Texts that some models write around the answer that follows a thought."""
SUFFIXED = re.compile(r"</?(think:[^\s<>]+)>")
"""Matches the marks of Hy 3 and 4 (Hunyuan), whose suffix differs by checkpoint."""

SHOWN_ONLY = (
    Family("<|begin_of_thought|>", "<|end_of_thought|>"),  # OpenThinker, Sky-T1
    Family("<unused94>thought", "<unused95>"),  # MedGemma
    Family("analysis", "assistantfinal"),  # gpt-oss behind a server that omits special tokens
)
"""Marks that are only searched for in answers."""
TAG = (
    r"(?i:</?(?:(?:\w+:)?think(?:ing|_\w+)?|think:[^\s<>]+|thoughts?|thought_process|reason(?:ing)?|reflection|scratchpad"
    r"|cot)>)"
)
"""Matches a tag around a thought, from any other model or from a prompt."""


class Thought(NamedTuple):
    """A thought, possibly empty, that a model wrote before an answer."""

    text: str
    """The complete thought, with its marks."""
    end: str
    """ENDED, CUT, UNFINISHED or NO_END."""
    rest: str = ""
    """The beginning of the answer: the text after the end mark within the mark's last token."""


def thought_marks(generator: GeneratorEntry, folder: Path = Path()) -> list[str] | None:
    """Return the start and end marks of the generator's thoughts; None if thoughts aren't separated from answers.

    With ``auto``, the list is empty if the tokenizer isn't local; the job then finds the marks in the tokenizer.
    """
    marks = _setting(generator)["marks"]
    if marks != AUTO:
        return None if marks == NO_THOUGHT else list(marks)
    path = local_path(generator.get("tokenizer", generator["model"]), folder)
    return _own_marks(f"thinking of model {generator['model']!r}", *_files(path)) if path else []


def reading_marks(generator: GeneratorEntry) -> Sequence[str] | None:
    """Return the marks to look for in stored answers; NO_THOUGHT for `thinking: none`, None if the key isn't set."""
    marks = thought_marks(generator)
    return NO_THOUGHT if marks is None and "thinking" in generator else marks


def thought_budget(generator: Mapping[str, object]) -> int:
    """Return the token limit for a separately generated thought; 0 if thoughts aren't separated from answers."""
    setting = _setting(generator)
    return 0 if setting["marks"] == NO_THOUGHT else setting.get("budget", BUDGET)


def least_budget(generator: Mapping[str, object]) -> int:
    """Return the number of tokens to leave free for a thought: the configured budget, or 1 if no budget is set."""
    return thought_budget(generator) if "budget" in _setting(generator) else min(1, thought_budget(generator))


def decisive_thinking(generator: GeneratorEntry, folder: Path) -> dict[str, Any]:
    """Return the marks and token limit of thoughts, as input for the fingerprint; empty if there are no thoughts."""
    marks = thought_marks(generator, folder)
    return {} if marks is None else {"thinking": {"marks": marks or AUTO, "budget": thought_budget(generator)}}


def marks_of(generator: GeneratorEntry, tokenizer: Any) -> list[str] | None:
    """Return the thought marks (for ``auto``, read from ``tokenizer``); None if thoughts stay in answers."""
    marks = _setting(generator)["marks"]
    if marks != AUTO:
        return None if marks == NO_THOUGHT else list(marks)
    place = f"thinking of model {generator['model']!r}"
    return _own_marks(place, tokenizer.get_vocab(), str(tokenizer.chat_template or ""))


def _setting(generator: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the key ``thinking`` as a mapping: marks and, if set, the budget."""
    given = generator.get("thinking", NO_THOUGHT)
    return given if isinstance(given, Mapping) else {"marks": given}


def begun_mark(text: str, marks: Sequence[str]) -> str:
    """Return the start mark if the prompt ``text`` ends inside a thought, otherwise an empty string."""
    start, end = marks
    _, mark, thought = text.rpartition(start)
    return start if mark and end not in thought else ""


def read_thought(text: str, marks: Sequence[str], begun: str, cut: bool, stopped_by_mark: bool = False) -> Thought:
    """Return the thought in ``text``, a reply to a request that used the thought's end mark as a stop string.

    ``begun``: the start mark, if the prompt ends inside a thought. ``cut``: whether the token limit ended the reply; if
    so, a text without a start mark is a thought too. ``stopped_by_mark``: whether the end mark ended the reply.
    """
    start, end = marks
    before, mark, rest = text.partition(end)
    if mark or stopped_by_mark:
        return Thought(begun + before + end, ENDED, rest)
    if cut:
        return Thought(begun + text + end, CUT)
    thinks = bool(begun) or text.lstrip().startswith(start)
    return Thought(begun + text, UNFINISHED) if thinks else Thought("", NO_END)


def has_any(marks: Collection[str], tokens: Collection[str]) -> bool:
    """Return whether any of the ``tokens`` is part of any of the ``marks``."""
    return any(token in mark for token in tokens for mark in marks)


def _shown_pattern() -> str:
    """Return a pattern for marks in an answer: a start mark at its beginning, or an end mark anywhere."""
    families = (*FAMILIES, *SHOWN_ONLY)
    starts = "|".join(re.escape(family.start) for family in families if re.search(r"\W", family.start))
    ends = "|".join(re.escape(family.end) for family in families if ": " not in f"{family.end} ")
    return rf"\A\s*(?:{starts}|{TAG})|{ends}|{TAG.replace('</?', '</')}"


SHOWN = _shown_pattern()
UNCLOSED = "answers in which a thought begins and does not end"
SCORED = "they are scored with the thought, since nothing says where the answer is"


def count_unclosed(answers: pl.Series, marks: Sequence[str] | None) -> list[dict[str, object]]:
    """Count the ``answers`` that still contain the start of a thought after thoughts were removed, and add a warning.

    Such a thought has no end, because everything up to the last end mark was removed. ``marks``: see reading_marks.
    """
    begins = [family.start for family in (*FAMILIES, *SHOWN_ONLY) if re.search(r"[<\[◁]", family.start)]
    pattern = "|".join([*map(re.escape, [*begins, *(marks or ())[:1]]), TAG.replace("</?", "<")])
    count = 0 if marks == NO_THOUGHT else answers.str.contains(pattern).sum()
    return [{"what": UNCLOSED, "count": count, "warning": SCORED}] if count else []


def check_shown(answer: str | None, place: str, about: str, setting: Any) -> None:
    """Raise InputError if ``answer`` contains a thought mark that isn't named in ``setting`` (the key `thinking`).

    ``place`` and ``about`` identify the answer in the message. If ``setting`` is `none`, all marks are allowed.
    """
    marks = setting.get("marks") if isinstance(setting, Mapping) else setting
    own = [] if marks is None or isinstance(marks, str) else [*marks]
    text = (answer or "").rpartition(own[1])[2] if own else answer or ""
    if marks == NO_THOUGHT or (own and text.lstrip().startswith(own[0])) or not (shown := re.search(SHOWN, text)):
        return
    mark = shown[0].strip()
    name = mark.strip("</>")
    family = next((each for each in (*FAMILIES, *SHOWN_ONLY) if mark in each[:2]), Family(f"<{name}>", f"</{name}>"))
    found = f"{'a different' if own else 'no'} key 'thinking', although {about} has the thought mark {mark!r}"
    raise InputError(
        place, found, f"thinking: {_written(family)}, or thinking: {NO_THOUGHT} to leave the answers unchanged"
    )


def check_folder(place: str, generator: Mapping[str, object], folder: Path) -> None:
    """Raise InputError if a local tokenizer has thought marks but the generator's key ``thinking`` isn't set.

    With ``auto``, also raise InputError unless the marks belong to exactly one family. ``place`` names the key.
    """
    if "thinking" not in generator:
        tokens, template = _files(folder)
        _check_unmarked(place, f"no value, although the tokenizer in {folder}", tokens, template, "")
    elif _setting(generator)["marks"] == AUTO:
        _own_marks(place, *_files(folder))


def check_tokenizer_marks(generator: GeneratorEntry, tokenizer: Any) -> None:
    """Raise InputError if the loaded ``tokenizer`` has thought marks but the generator's key ``thinking`` isn't set.

    With ``auto``, also raise InputError unless the marks belong to exactly one family.
    """
    if "thinking" in generator:
        marks_of(generator, tokenizer)
        return
    place, template = f"generator of model {generator['model']!r}", str(tokenizer.chat_template or "")
    _check_unmarked(place, "no key thinking, although the tokenizer", tokenizer.get_vocab(), template, "thinking: ")


def _files(folder: Path) -> tuple[Collection[str], str]:
    """Return a local tokenizer's added tokens and chat templates."""
    return added_tokens(folder), chat_templates(folder)


def _own_marks(place: str, tokens: Collection[str], template: str) -> list[str]:
    """Return the marks in a tokenizer or its chat template. Raises InputError unless they are one family's."""
    found = [family for _, family in _families(tokens, template)]
    if len(found) != 1:
        listed = " and ".join(map(_written, found)) or "no thought marks"
        raise InputError(place, f"auto, although the tokenizer has {listed}", "explicit marks, or none")
    return [found[0].start, found[0].end]


def _check_unmarked(place: str, found: str, tokens: Collection[str], template: str, key: str) -> None:
    """Raise InputError if tokens or template contain thought marks. ``key`` precedes the marks in the message."""
    if has := _families(tokens, template):
        expected = " or ".join(_written(family) for _, family in has)
        thinks_not = f"{NO_THOUGHT} if the answers contain no thoughts"
        raise InputError(place, f"{found} has the thought mark {has[0][0]!r}", f"{key}{expected}, or {thinks_not}")


def _families(tokens: Collection[str], template: str) -> list[tuple[str, Family]]:
    """Return the families for which a tokenizer or its chat template has a sign, each with that sign."""
    names = dict.fromkeys(name for text in (*tokens, template) for name in SUFFIXED.findall(text))
    suffixed = [Family(f"<{name}>", f"</{name}>") for name in names]
    return [(sign, family) for family in (*FAMILIES, *suffixed) if (sign := _sign(family, tokens, template))]


def _written(family: Family) -> str:
    return json.dumps([family.start, family.end], ensure_ascii=False)


def _sign(family: Family, tokens: Collection[str], template: str) -> str | None:
    """Return the sign that a tokenizer or its chat template belongs to the ``family``; None if there is none."""
    signs = (family.start, family.end, *family.signs)
    return next((sign for sign in signs if sign in tokens or sign in template), None)


def without_thinking(frame: pl.DataFrame, marks: Sequence[str] | None) -> pl.DataFrame:
    """Separate the thoughts from the answers in ``frame`` (answer, finish_reason, answer_tokens, store.THOUGHT, …).

    ``marks``: the start and end mark; empty if the marks are unknown here, as for a tokenizer on a hub; None to keep
    answers unchanged. The thought is the text up to the last end mark. The thought may lack a start mark, because some
    chat templates write the start mark in the prompt. An answer without an end mark is an unfinished thought if it
    begins with a start mark, or if max_tokens truncated it and thoughts weren't generated in separate requests. Such an
    answer is set to null, with finish_reason THINKING. The texts in WRAPS around an answer are removed too. If the
    thought's number of tokens is known, it is subtracted from ``answer_tokens``.
    """
    answer, apart = pl.col("answer"), pl.col("thought_end").is_not_null()
    ended = thinking = pl.lit(False)
    left = last = answer
    if marks:
        ended, last = answer.str.contains(marks[1], literal=True), answer.str.split(marks[1]).list.last()
        begun = answer.str.strip_chars_start().str.starts_with(marks[0])
        begun |= ~apart & (pl.col("finish_reason") == "length")
        thinking = answer.is_not_null() & ~ended & begun
        left = pl.when(ended).then(last.str.strip_chars()).otherwise(answer)
    to_mark = answer.str.slice(0, answer.str.len_chars() - last.str.len_chars())
    before = pl.when(thinking).then(answer).when(ended).then(to_mark)
    end = pl.when(thinking).then(pl.lit(UNFINISHED)).when(ended).then(pl.lit(ENDED))
    without = pl.when(answer.is_not_null() if marks else pl.lit(False)).then(pl.lit(NO_END))
    for opening, closing in map(partial(map, re.escape), WRAPS if marks is not None else ()):
        left = left.str.replace(rf"(?s)^{opening}\s*(.*?)\s*(?:{closing}.*)?$", "$1")
    return frame.with_columns(
        pl.when(~thinking).then(left).alias("answer"),
        pl.when(thinking).then(pl.lit(THINKING)).otherwise("finish_reason").alias("finish_reason"),
        answer_tokens=pl.col("answer_tokens") - pl.col("thought_tokens").fill_null(0),
        thought=pl.concat_str("thought", before, ignore_nulls=True).replace("", None),
        thought_end=pl.coalesce("thought_end", end, without),
    )
