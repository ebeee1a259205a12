"""Tokenise prompts for the engine, with exactly one BOS. Special tokens in passages are read as plain text.

A passage may contain the text of a special token, as pages about language models do. If the text were read as the
token, a passage could end the user's turn and start another turn.
"""

import datetime
import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from jinja2 import TemplateError

from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.models.gguf_conversion import model_source
from ragrelay.base.models.hubs import check_cached
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.thought_marks import (
    ENDED,
    Thought,
    begun_mark,
    has_any,
    marks_of,
    read_thought,
    thought_budget,
)

# Placeholders while a chat template is rendered: for the messages, and PRIVATE_USE for special tokens' texts.
USER_PART, SYSTEM_PART = "zyxquestion", "zyxinstruction"
"""Texts that don't occur in any chat template."""
PRIVATE_USE = [chr(point) for point in range(0xE000, 0xF900)]


def load_tokenizer(generator: GeneratorEntry) -> Any:
    """Load the tokenizer in the key ``tokenizer`` or, if that key isn't set, the model's tokenizer."""
    name = generator.get("tokenizer", generator["model"])
    source, revision = model_source(generator, "tokenizer")
    check_cached(source, revision, f"generator's tokenizer {name!r}")
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(
            source,
            revision=revision,
            trust_remote_code=generator["trust_remote_code"],
        )
    except Exception as error:  # the Rust library raises no narrower type
        raise unloadable(f"generator's tokenizer {name!r}", error, "a tokenizer's folder or hub id") from error


class ThoughtTokens(NamedTuple):
    """A generator's thought marks, and the tokenizer for its thoughts."""

    marks: Sequence[str]
    end: tuple[int, ...]
    """The end mark's token ids."""
    hidden: frozenset[int] | None
    """Special tokens to omit from texts if the marks are special tokens themselves; None means all special tokens."""
    tokenizer: Any

    def thought(self, text: str, ids: Sequence[int], begun: str, cut: bool, stopped_by_mark: bool = False) -> Thought:
        """Return the thought in a reply with the given ``text`` and token ``ids``."""
        thought = read_thought(text, self.marks, begun, cut, stopped_by_mark)
        if thought.end != ENDED:
            return thought
        # The last token may contain text after the mark, which begins the answer.
        _, mark, rest = self.tokenizer.decode(ids, skip_special_tokens=self.hidden is None).rpartition(self.marks[1])
        return thought._replace(rest=rest if mark else "")

    def ids(self, text: str) -> tuple[int, ...]:
        """Return the token ids of a ``text`` written by the model, which may contain special tokens."""
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def thought_tokens(generator: GeneratorEntry) -> ThoughtTokens | None:
    """Return the generator's thought marks and its tokenizer; None if the generator has no thoughts."""
    if not thought_budget(generator):
        return None
    tokenizer = load_tokenizer(generator)
    marks = marks_of(generator, tokenizer) or []
    special = special_tokens(tokenizer)
    others = [text for text in special if not has_any(marks, [text])]
    hidden = frozenset(tokenizer.convert_tokens_to_ids(others)) if has_any(marks, special) else None
    end = tokenizer(marks[1], add_special_tokens=False)["input_ids"]
    return ThoughtTokens(marks, tuple(end), hidden, tokenizer)


def special_tokens(tokenizer: Any) -> set[str]:
    """Return the texts of a tokenizer's special tokens."""
    added = tokenizer.added_tokens_decoder.values()
    return {token.content for token in added if token.special} | set(tokenizer.all_special_tokens)


def plain_ids(tokenizer: Any, text: str) -> list[int]:
    """Return the token ids of ``text`` without BOS; special tokens in the text are read as plain text."""
    ids: list[int] = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    return ids


def unloadable(place: str, error: Exception, expected: str) -> InputError:
    """Return an InputError for a model or tokenizer that a library can't load."""
    message = " ".join(str(error).split())
    if "trust_remote_code" in message:
        expected += ", or trust_remote_code: true, because the model comes with its own code"
    return InputError(place, f"a loading error ({type(error).__name__}: {message[:200]})", expected)


class PromptTokenizer:
    """A tokenizer for prompts, set up according to a generator's definition.

    Without ``chat``, a prompt is tokenised as text, with a leading BOS if the tokenizer adds one. A chat is rendered
    with the tokenizer's chat template: a system message (if there is one), a user message, and the start of the
    assistant's turn. For a chat, raises InputError if the tokenizer has no chat template, or if the template rejects a
    message (some reject system messages), omits a message, or reads the clock although the definition has no ``date``.
    """

    def __init__(self, generator: GeneratorEntry) -> None:
        self.chat = generator.get("chat", False)
        self._ends: dict[bool, str] = {}
        self.tokenizer = load_tokenizer(generator)
        self.marks = marks_of(generator, self.tokenizer)
        self.place = f"model {generator['model']!r}"
        self.kwargs = {**self._clock(generator.get("date")), **generator.get("chat_template_kwargs", {})}
        templates = self.tokenizer.chat_template
        if self.chat and (not templates or (isinstance(templates, dict) and "default" not in templates)):
            found = f"the chat templates {', '.join(templates)}, but none named default" if templates else (
                "no chat template")  # fmt: skip
            raise InputError(f"tokenizer of {self.place}", found, "a default template, because chat is true")

    def __call__(self, prompt: str, system: str = "") -> tuple[int, ...]:
        """Return a prompt's token ids: those of a chat's user and ``system`` message, or of a raw text."""
        if self.chat:
            return self._with_bos(self._chat(prompt, system))
        return tuple(self.tokenizer(prompt, split_special_tokens=True)["input_ids"])

    def begun(self, prompt: str, system: str = "") -> str:
        """Return the start mark if ``prompt`` ends inside a thought, otherwise an empty string.

        Raises InputError if the chat template closes the thought, as some templates do unless thinking is enabled.
        """
        if self.marks is None:
            return ""
        last = self._after(bool(system)) if self.chat else prompt.rstrip()[-len(self.marks[0]) :]
        if self.chat and self.marks[1] in last:
            found = f"a template that ends the thought itself ({last.strip()[-60:]!r}), so that the model writes none"
            expected = "chat_template_kwargs that leave the thought open ({enable_thinking: true}), or thinking: none"
            raise RequestError(f"chat template of {self.place}", found, expected)
        return begun_mark(last, self.marks)

    def _after(self, with_system: bool) -> str:
        """Return the text that the chat template adds after the user message."""
        if with_system not in self._ends:
            parts = {"user": USER_PART, "system": SYSTEM_PART} if with_system else {"user": USER_PART}
            text = self._templated(parts["user"], parts.get("system", ""), tokenize=False)
            for name, part in parts.items():
                if part not in text:
                    found = f"a template that omits the {name} part, so that different prompts would become identical"
                    raise RequestError(f"chat template of {self.place}", found, "a template that includes this part")
            self._ends[with_system] = text.rpartition(USER_PART)[2]
        return self._ends[with_system]

    def _chat(self, prompt: str, system: str) -> list[int]:
        self._after(bool(system))  # checks the template before its first prompt
        if self._special is None or not self._special.search(system + prompt):
            return self._templated(prompt, system, tokenize=True, return_dict=False)
        # The template's special tokens split the text into pieces; those in the messages are restored as plain text
        # within a piece. A tokenizer that treats a text's first word differently may do so at each piece's start.
        mark = next(character for character in PRIVATE_USE if character not in system + prompt)
        literals: list[str] = []

        def hide(match: re.Match[str]) -> str:
            literals.append(match[0])
            return f"{mark}{len(literals) - 1}{mark}"

        text = self._templated(self._special.sub(hide, prompt), self._special.sub(hide, system), tokenize=False)
        ids: list[int] = []
        for piece in filter(None, re.split(f"({self._special.pattern})", text)):
            if self._special.fullmatch(piece):
                ids.append(self.tokenizer.convert_tokens_to_ids(piece))
            else:
                shown = re.sub(f"{mark}([0-9]+){mark}", lambda match: literals[int(match[1])], piece)
                ids += plain_ids(self.tokenizer, shown)
        return ids

    def _templated(self, prompt: str, system: str, **how: Any) -> Any:
        parts = [{"role": "system", "content": system}] if system else []
        parts.append({"role": "user", "content": prompt})
        try:
            return self.tokenizer.apply_chat_template(parts, add_generation_prompt=True, **how, **self.kwargs)
        except TemplateError as error:
            raise RequestError(
                f"chat template of {self.place}",
                f"an error from the template: {error}",
                "parts that the template accepts",
            ) from None

    def _clock(self, date: str | None) -> dict[str, object]:
        """Return the date for chat templates: ``strftime_now`` (transformers) and ``date_string`` (Llama)."""
        if date is not None:
            day = datetime.date.fromisoformat(date)
            return {"strftime_now": day.strftime, "date_string": day.strftime("%d %b %Y")}

        def refuse(form: str) -> NoReturn:
            found = f"a template that reads the clock (strftime_now({form!r})), so prompts would change from day to day"
            expected = "key date in the generator's entry (date: YYYY-MM-DD), which fixes the date in prompts"
            raise RequestError(f"chat template of {self.place}", found, expected)

        return {"strftime_now": refuse}

    def _with_bos(self, ids: list[int]) -> tuple[int, ...]:
        """Add the BOS that the tokenizer puts before raw text, unless the chat template wrote it."""
        if self._first and ids[:1] != self._first:
            return (*self._first, *ids)
        return tuple(ids)

    @functools.cached_property
    def _first(self) -> list[int]:
        bos = self.tokenizer.bos_token_id
        return [bos] if bos is not None and self.tokenizer("a")["input_ids"][:1] == [bos] else []

    @functools.cached_property
    def _special(self) -> re.Pattern[str] | None:
        """A pattern for the texts of all special tokens, longest first."""
        ordered = sorted(special_tokens(self.tokenizer), key=lambda text: (-len(text), text))
        return re.compile("|".join(map(re.escape, ordered))) if ordered else None
