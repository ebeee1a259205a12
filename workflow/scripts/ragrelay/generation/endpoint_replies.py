"""Check an OpenAI-compatible endpoint's replies, and convert them to rows for the answer store."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import numpy as np
import openai
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import Request
from ragrelay.generation.store import ROUNDING, with_thought
from ragrelay.generation.thought_marks import CUT, ENDED, NO_END, THINKING, UNFINISHED, Thought, read_thought
from ragrelay.generation.token_scores import CANDIDATES, token_scores
from ragrelay.generation.tokens import ThoughtTokens

FIRST = 4000
"""Bytes at the beginning of a reply that are searched for the reason for a refusal and quoted in messages."""

WITH_TEXT = ("stop", "length", "eos", "eos_token", "stop_sequence", "end_turn", "max_tokens", "None")
"""Finish reasons for which an empty text counts as an answer; for any other, the answer is missing."""
REFUSALS = (400, 403, 413, 422)
"""HTTP statuses that endpoints return when they refuse a request's keys or its prompt."""
FILTERED, TOO_LONG, REFUSED = "content_filter", "too long", "refused"
"""The finish_reasons of answers that are missing because the endpoint refused the prompt; REFUSED is the default."""
_SAYS = {
    TOO_LONG: r"context.?(length|window|size)|(prompt|input|text)\w*\W.{0,60}\b(long|large|length|tokens?)\b",
    FILTERED: r"content.?(filter|management|polic|safety|exists)|moderation|flagged|guardrail|inappropriate|inspection"
    r"|safety|block.?reason|blocked|prohibited|usage polic|sensitive",
}
"""Patterns, matched in any case, for the words that decide a refused prompt's finish_reason."""
_OF_ACCOUNT = re.compile(
    r"(credit|fund|balance|quota)s?\b.{0,20}(low|exceeded|exhausted|insufficient)|insufficient|billing|api.?key"
    r"|(account|organi[sz]ation|project|user) (is|was|has)|suspended|deactivated",
    re.IGNORECASE,
)
"""Matches refusals that concern the sender's account rather than the prompt."""
NO_CHOICES = "no choices"
"""The error text for a reply without choices, which content filters send with status 200."""
NO_TEXT = "no text"
"""The finish_reason of a null answer if the reply gives no other reason."""

READ_SHARE = 0.9
"""Minimum number of tokens that a server reads from a text, as a share of the text's words; common tokenizers produce
at least one token per word."""


Count = Annotated[int, Field(ge=0, lt=2**53)]
LogProbability = Annotated[FiniteFloat, Field(le=ROUNDING)]


class ReplyError(Exception):
    """Raised if a ``response`` with status 200 isn't a completion. Repeating the request may help."""

    def __init__(self, problem: str, response: Any) -> None:
        super().__init__(problem)
        self.response = response


class FailureError(Exception):
    """Raised when a request to an address fails. ``cause`` is an error from the OpenAI client, or a ReplyError."""

    def __init__(self, address: str, cause: openai.OpenAIError | ReplyError) -> None:
        super().__init__(str(cause))
        self.address, self.cause = address, cause


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Details(_Part):
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class _Usage(_Part):
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None

    def cached_tokens(self) -> int | None:
        """Return the number of cached prompt tokens; 0 if not reported, None if the reply has no prompt token count."""
        details = self.prompt_tokens_details
        return None if self.prompt_tokens is None else (details.cached_tokens if details else None) or 0

    def thought_tokens(self) -> int | None:
        """Return the number of answer tokens that belong to the thought; None if unknown."""
        return (self.completion_tokens_details.reasoning_tokens if self.completion_tokens_details else None) or None


class _Candidate(_Part):
    logprob: LogProbability
    token: Any = None


class _Token(_Candidate):
    top_logprobs: list[_Candidate] | None = None


class _Logprobs(_Part):
    """``token_logprobs`` and ``top_logprobs`` in a completion, ``content`` in a chat completion."""

    token_logprobs: list[LogProbability] | None = None
    top_logprobs: list[dict[str, LogProbability] | None] | None = None
    content: list[_Token] | None = None

    def sampled(self) -> list[float]:
        """Return the log-probabilities of the answer's tokens; an empty list if the reply has none."""
        return [*(self.token_logprobs or ()), *(token.logprob for token in self.content or ())]

    def candidates(self) -> np.ndarray | None:
        """Return the log-probabilities of each token's likeliest candidates (tokens × CANDIDATES, padded with −inf).

        A completion may also list the sampled token, but only the likeliest CANDIDATES are returned.
        """
        places = [list((place or {}).values()) for place in self.top_logprobs or ()]
        places += [[candidate.logprob for candidate in token.top_logprobs or ()] for token in self.content or ()]
        if min(map(len, places), default=0) < 2:
            return None
        padded = np.full((len(places), CANDIDATES), -np.inf)
        for row, place in zip(padded, places, strict=True):
            likeliest = sorted(place, reverse=True)[:CANDIDATES]
            row[: len(likeliest)] = likeliest
        return padded


class _Message(_Part):
    content: str | None = None
    refusal: Any = None
    reasoning: Any = None
    reasoning_content: Any = None

    def reason(self) -> str | None:
        """Return why the message has no content: a refusal, or a thought without an answer. None if neither applies."""
        return "refusal" if self.refusal else THINKING if self.reasoning or self.reasoning_content else None


class _Choice(_Part):
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _TextChoice(_Choice):
    text: str | None
    stop_reason: Any = None
    token_ids: list[int] | None = None

    @property
    def message(self) -> _Message:
        return _Message(content=self.text)

    def stopped_at(self, mark: str) -> bool | None:
        """Return whether generation stopped at the stop string ``mark``; None if unknown."""
        return self.stop_reason == mark if "stop_reason" in self.model_fields_set else None


class _ChatChoice(_Choice):
    message: _Message


AnyChoice = TypeVar("AnyChoice", _TextChoice, _ChatChoice)


class Reply(_Part, Generic[AnyChoice]):
    """A completion or a chat completion."""

    choices: list[AnyChoice] = Field(min_length=1)
    usage: _Usage | None = None
    model: Any = None
    system_fingerprint: Any = None

    @property
    def counts(self) -> _Usage:
        """The token counts in the reply. Missing counts are None."""
        return self.usage or _Usage()

    def candidates(self) -> list[tuple[str, float]]:
        """Return each candidate for the first token with its log-probability; an empty list if there are none."""
        logprobs = self.choices[0].logprobs or _Logprobs()
        if logprobs.top_logprobs:
            return list((logprobs.top_logprobs[0] or {}).items())
        first = (logprobs.content or ())[:1]
        return [(str(one.token), one.logprob) for token in first for one in token.top_logprobs or ()]


def read_reply(response: Any, as_chat: bool) -> Reply[Any]:
    """Parse an HTTP response with status 200 as a completion; raise ReplyError if it isn't a valid completion."""
    kind: type[Reply[Any]] = Reply[_ChatChoice] if as_chat else Reply[_TextChoice]
    try:
        return kind.model_validate_json(response.content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    key, why = ".".join(map(str, problem["loc"])), problem["msg"]
    missing = problem["type"] == "missing" or key == "choices"
    what = f"no {key}" if missing else f"an unusable {key} ({why})" if key else "no JSON object"
    raise ReplyError(what, response)


def reply_row(request: Request, reply: Reply[Any]) -> dict[str, Any]:
    """Convert ``reply`` to a row for the answer store.

    If the endpoint filtered the answer, or if the model refused, called a tool or wrote only a thought, the answer is
    null and finish_reason gives the reason. Token counts that are missing from the reply are null.
    """
    choice, usage = reply.choices[0], reply.counts
    answer, finish_reason = _answer(choice, usage, request.said)
    scored = choice.logprobs or _Logprobs()
    logprobs = scored.sampled() or None
    return {
        **_own(request),
        "answer": answer,
        "finish_reason": finish_reason,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens(),
        "answer_tokens": usage.completion_tokens,
        "logprob": sum(logprobs) if logprobs else None,
        **token_scores(logprobs, scored.candidates()),
        **_own_thought(choice.message, usage, answer is not None),
    }


def _own(request: Request) -> dict[str, object]:
    return {"prompt_id": request.prompt_id, "seed": request.seed, "dropped_passages": request.dropped_passages}


def refused_row(request: Request, reason: str, error: InputError) -> dict[str, object]:
    """Return the row for a prompt that the endpoint refused: the answer is null, and finish_reason is ``reason``.

    All token counts are 0. The column ``refusal`` holds ``error``, which is raised if the endpoint refuses all prompts.
    """
    counts = dict.fromkeys(("prompt_tokens", "cached_tokens", "answer_tokens"), 0)
    return {**_own(request), "answer": None, "finish_reason": reason, **counts, "logprob": None, "refusal": error}


def refused_prompt(error: Exception) -> str | None:
    """Return the finish_reason for a prompt that the endpoint refused; None if ``error`` has another cause.

    If the result is REFUSED but the address has never replied, the cause may be a request key instead of the prompt.
    """
    response: Any = getattr(error, "response", None)
    if response is None or (isinstance(error, ReplyError) and str(error) != NO_CHOICES):
        return None
    status, text = response.status_code, response.content[:FIRST].decode("utf-8", "replace")
    if status not in (200, 500, *REFUSALS) or _OF_ACCOUNT.search(text):
        return None
    said = next((reason for reason, says in _SAYS.items() if re.search(says, text, re.IGNORECASE | re.DOTALL)), None)
    return said or {400: REFUSED, 413: TOO_LONG, 422: REFUSED}.get(status)


class ThoughtReply(NamedTuple):
    """A thought, the ids of the reply's tokens, and token counts. Unknown values are None."""

    thought: Thought
    ids: tuple[int, ...] | None
    tokens: int | None
    prompt_tokens: int | None
    cached_tokens: int | None


def reply_thought(
    request: Request, reply: Reply[_TextChoice], marks: Sequence[str], thinks: ThoughtTokens | None
) -> ThoughtReply:
    """Return the thought in ``reply``, whose request used the thought's end mark as a stop string.

    Some servers report ``stop`` but not which stop string; a thought that has begun is then considered complete.
    """
    choice, usage = reply.choices[0], reply.counts
    text, ended = choice.text or "", choice.finish_reason
    begins, stopped = request.begun or text.lstrip().startswith(marks[0]), choice.stopped_at(marks[1])
    at_mark = ended == "stop" and bool(begins if stopped is None else stopped)
    ids = tuple(choice.token_ids) if choice.token_ids else None
    if thinks and ids:
        thought = thinks.thought(text, ids, request.begun, ended == "length", at_mark)
    else:
        thought = read_thought(text, marks, request.begun, ended == "length", at_mark)
    return ThoughtReply(thought, ids, usage.completion_tokens, usage.prompt_tokens, usage.cached_tokens())


def after_thought(request: Request, reply: ThoughtReply, thinks: ThoughtTokens | None) -> Request:
    """Return the request for the answer, with the thought (if there is one) appended to the prompt."""
    thought = reply.thought
    if thought.end == NO_END:
        return dataclasses.replace(request, begun="")
    written = thought.text.removeprefix(request.begun)
    if not (request.token_ids and thinks):
        return dataclasses.replace(request, prompt=request.prompt + written, begun="")
    if reply.ids is None:
        return dataclasses.replace(request, token_ids=(*request.token_ids, *thinks.ids(written)), begun="")
    ids = (*request.token_ids, *reply.ids, *(thinks.end if thought.end == CUT else ()))
    return dataclasses.replace(request, token_ids=ids, begun="", said=thought.rest)


def thought_row(request: Request, reply: ThoughtReply, answer: Mapping[str, object]) -> dict[str, Any]:
    """Return the row for ``answer`` and the thought in ``reply``. If the thought didn't end, ``answer`` is empty."""
    row = {**_own(request), **answer, "prompt_tokens": reply.prompt_tokens, "cached_tokens": reply.cached_tokens}
    return with_thought(row, reply.thought, reply.tokens)


def check_budget(place: str, request: Request, reply: ThoughtReply, budget: int) -> None:
    """Raise InputError if a thought has more than ``budget`` tokens, or was cut off before that limit."""
    tokens = reply.tokens
    if tokens is not None and (tokens > budget or (request.token_ids and reply.thought.end == CUT and tokens < budget)):
        found = f"a thought of {tokens} tokens before the answer to prompt {request.prompt_id[:16]}"
        raise InputError(place, found, f"a thought that ends by itself or after {budget} tokens (thinking.budget)")


def check_read(place: str, request: Request, read: int | None) -> None:
    """Raise InputError if the endpoint read fewer tokens (``read``) than the prompt contains.

    A prompt sent as token ids must be read completely. For a prompt sent as text, ``read`` must be at least READ_SHARE
    times the number of words (in a chat, words in the user message). An unknown number (None) is accepted.
    """
    ids, words = len(request.token_ids), len(request.prompt.split())
    if read is not None and read < (ids or READ_SHARE * words):
        found = f"{read} tokens read (usage.prompt_tokens) from prompt {request.prompt_id[:16]}, which has "
        expected = "the entire prompt; use a server with a longer window (Ollama: num_ctx), or shorter prompts"
        if not ids:
            expected += "; if the model's tokens span words, set key tokenizer, so that ids are sent and counted"
        raise InputError(place, found + (f"{ids} tokens" if ids else f"{words} words"), expected)


def check_whole(place: str, request: Request, row: Mapping[str, Any], max_tokens: int) -> None:
    """Raise InputError if the token counts in ``row`` show that the endpoint truncated the prompt or the answer.

    If token ids were sent, an answer with finish_reason `length` must have ``max_tokens`` tokens, because vLLM in the
    job would have continued. Unknown counts are accepted.
    """
    check_read(place, request, row["prompt_tokens"])
    made = row["answer_tokens"]
    if request.token_ids and made is not None and row["finish_reason"] == "length" and made < max_tokens:
        found = f"an answer to prompt {request.prompt_id[:16]} that the server cut after {made} tokens"
        raise InputError(place, found, f"a server that cuts answers only after {max_tokens} tokens (max_tokens)")


def advice(error: Exception, generator: GeneratorEntry) -> str:
    """Return a hint on how to fix ``error``, or an empty string; the hint is appended to the error message."""
    if refused_prompt(error) == TOO_LONG:
        return "; it refuses prompts: a server with a longer window, shorter prompts or lower max_tokens"
    variable = generator.get("api_key_env")
    of_key = f"; it refuses the key in {variable} (api_key_env)" if variable else (
        "; if it needs a key, write api_key_env: the name of the environment variable that has it")  # fmt: skip
    of_request = "; if it refuses a key of the request, write null or another name for it (docs/add-a-model.md)"
    of_rate = "; for a rate limit, lower requests_per_minute or concurrency, or raise max_retries"
    by_status = {400: of_request, 401: of_key, 403: of_key + of_request, 422: of_request, 429: of_rate}
    return by_status.get(error.status_code, "") if isinstance(error, openai.APIStatusError) else ""


def _answer(choice: _TextChoice | _ChatChoice, usage: _Usage, said: str) -> tuple[str | None, str]:
    """Return the answer and its finish reason; for a missing answer, None and the reason."""
    message, ended = choice.message, str(choice.finish_reason)
    text = (said + (message.content or "")).strip()
    cut_thought = ended == "length" and usage.thought_tokens() is not None
    why = message.reason() or (THINKING if cut_thought else None if ended.lower() in WITH_TEXT else ended)
    if text or (message.content is not None and why is None):
        return text, ended
    return None, why or (NO_TEXT if ended in ("stop", "length") else ended)


def _own_thought(message: _Message, usage: _Usage, has_answer: bool) -> dict[str, object]:
    """Return the store's columns for a thought that the server returns separately; empty if there is none."""
    given, tokens = message.reasoning or message.reasoning_content, usage.thought_tokens()
    if given is None and tokens is None:
        return {}
    text = given if isinstance(given, str) else ""
    return {"thought": text, "thought_tokens": tokens, "thought_end": ENDED if has_answer else UNFINISHED}


def request_failure(error: Exception) -> str:
    """Describe why a request failed: the HTTP status and the beginning of the reply, or the client's error."""
    name = "" if isinstance(error, ReplyError) else f"{type(error).__name__}: "
    if not isinstance(error, openai.APIStatusError | ReplyError):
        cause = error.__cause__
        return f"{name}{error}" + (f" ({cause})" if cause and str(cause) else "")
    reply = error.response
    if reply.is_redirect:
        target = reply.headers.get("location", "").partition("?")[0].rpartition("@")[2]
        return f"HTTP {reply.status_code}, a redirect to {target}, which is not followed"
    problem = f"{error} in " if isinstance(error, ReplyError) else name
    kind = reply.headers.get("content-type", "").partition(";")[0]
    words = reply.content[:FIRST].decode("utf-8", "replace")
    return f"{problem}HTTP {reply.status_code} {kind}".rstrip() + (
        f": {words}" if words.strip() else ", an empty reply"
    )
