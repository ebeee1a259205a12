"""Check replies of an OpenAI-compatible endpoint before keeping them, since they may come from a proxy."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
import openai
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from ragrelay.errors import printable
from ragrelay.generation.generator import Request
from ragrelay.generation.store import ROUNDING
from ragrelay.generation.thought_marks import THINKING
from ragrelay.generation.token_scores import CANDIDATES, token_scores

FIRST_WORDS = 1000
"""Bytes of a reply that a message is made from: more than it finally shows, so that a key is hidden as a whole."""

WITHOUT_TEXT = ("content_filter", "tool_calls", "function_call")
"""Finish reasons with which an empty text is no answer."""
NO_TEXT = "no text"
"""The finish_reason of an answer that is null, if the reply gives no other reason."""

Count = Annotated[int, Field(ge=0, lt=2**53)]
LogProbability = Annotated[FiniteFloat, Field(le=ROUNDING)]


class ReplyError(Exception):
    """A reply that is no completion. ``may_pass``: whether the same request may succeed later."""

    def __init__(self, found: str, may_pass: bool) -> None:
        super().__init__(found)
        self.may_pass = may_pass


class HalfCharacterError(Exception):
    """An answer with half of a surrogate pair, which can't be written as UTF-8."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Details(_Part):
    cached_tokens: Count | None = None


class _Usage(_Part):
    prompt_tokens: Count
    completion_tokens: Count
    prompt_tokens_details: _Details | None = None


class _Candidate(_Part):
    logprob: LogProbability


class _Token(_Candidate):
    top_logprobs: list[_Candidate] | None = None


class _Logprobs(_Part):
    """``token_logprobs`` and ``top_logprobs`` in a completion, ``content`` in a chat completion."""

    token_logprobs: list[LogProbability] | None = None
    top_logprobs: list[dict[str, LogProbability] | None] | None = None
    content: list[_Token] | None = None

    def sampled(self) -> list[float]:
        """Return the log-probability of each token of the answer; empty if the reply has none."""
        return [*(self.token_logprobs or ()), *(token.logprob for token in self.content or ())]

    def candidates(self) -> np.ndarray | None:
        """Return log-probabilities of each token's likeliest candidates (tokens by CANDIDATES, padded with −inf).

        In completions, the sampled token is among its candidates even if it is none of the likeliest.
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
    content: Any
    refusal: Any = None
    reasoning: Any = None
    reasoning_content: Any = None

    def reason(self) -> str | None:
        """Return why there is no content, if the message says so: a refusal, or only a thought."""
        return "refusal" if self.refusal else THINKING if self.reasoning or self.reasoning_content else None


class _Choice(_Part):
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _TextChoice(_Choice):
    text: Any


class _ChatChoice(_Choice):
    message: _Message


class _Completion(_Part):
    choices: list[_TextChoice]
    usage: _Usage


class _ChatCompletion(_Part):
    choices: list[_ChatChoice]
    usage: _Usage


def reply_row(request: Request, reply: Any, as_chat: bool, replace: bool) -> dict[str, Any]:
    """Return the store's row for ``reply``, an HTTP response with status 200.

    A refusal, a filtered answer, a tool call and a thought without an answer are missing answers: null, with the reason
    as their finish_reason. ``replace``: U+FFFD replaces each half of a surrogate pair; without it, they raise
    HalfCharacterError. Raises ReplyError for anything but a completion with text and token counts.
    """
    completion = _checked(reply, _ChatCompletion if as_chat else _Completion)
    choice, usage = completion.choices[0], completion.usage
    answer, finish_reason = _answer(choice, reply, replace)
    details = usage.prompt_tokens_details
    logprobs = (choice.logprobs.sampled() if choice.logprobs else None) or None
    return {
        "prompt_id": request.prompt_id,
        "seed": request.seed,
        "answer": None if answer is None else request.begun + answer,
        "finish_reason": finish_reason,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": (details.cached_tokens if details else None) or 0,
        "answer_tokens": usage.completion_tokens,
        "logprob": sum(logprobs) if logprobs else None,
        "dropped_passages": request.dropped_passages,
        **token_scores(logprobs, choice.logprobs.candidates() if choice.logprobs else None),
    }


def _answer(choice: _TextChoice | _ChatChoice, reply: Any, replace: bool) -> tuple[str | None, str]:
    """Return the answer and its finish reason, or None and why it is missing."""
    message = choice.message if isinstance(choice, _ChatChoice) else _Message(content=choice.text)
    content = message.content
    text = _text(content, reply, replace).strip()
    ended = _text(str(choice.finish_reason), reply, replace=True)
    why = message.reason() or (ended if ended in WITHOUT_TEXT else None)
    if text or (content is not None and why is None):
        return text, ended
    return None, why or (NO_TEXT if ended in ("stop", "length") else ended)


def _checked(reply: Any, kind: type[BaseModel]) -> Any:
    try:
        body = json.loads(reply.content)
    except (ValueError, RecursionError):  # no or cut JSON, other encodings, endless numbers, endless nesting
        body = None
    if not isinstance(body, Mapping):
        raise ReplyError(f"no JSON object in {first_words(reply)}", may_pass=True)
    if not body.get("choices"):
        raise ReplyError(f"no choices in {first_words(reply)}", may_pass=True)
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        key = ".".join(map(str, problem["loc"]))
        what = f"no {key}" if problem["type"] == "missing" else f"an unusable {key} ({problem['msg']})"
        raise ReplyError(f"{what} in {first_words(reply)}", may_pass=False) from None


def _text(value: Any, reply: Any, replace: bool) -> str:
    if not isinstance(value, str | None):
        raise ReplyError(f"an answer that is no text in {first_words(reply)}", may_pass=False)
    text = value or ""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        if not replace:
            raise HalfCharacterError from None
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def first_words(reply: Any) -> str:
    """Return status, type and first words of an HTTP response, on one line."""
    kind = reply.headers.get("content-type", "").partition(";")[0]
    words = " ".join(reply.content[:FIRST_WORDS].decode("utf-8", "replace").split())
    return printable(f"HTTP {reply.status_code} {kind}".rstrip() + (f": {words}" if words else ", an empty reply"))


def request_failure(error: BaseException | None) -> str:
    """Return how a request failed: the status with the first words of the reply, or why there is no reply."""
    if isinstance(error, ReplyError):
        return str(error)
    if isinstance(error, openai.APIStatusError):
        reply = error.response
        if reply.is_redirect:
            target = reply.headers.get("location", "").partition("?")[0].rpartition("@")[2]
            return f"HTTP {reply.status_code}, a redirect to {printable(target)}, which is not followed"
        return f"{type(error).__name__}: {first_words(reply)}"
    cause = error.__cause__ if error else None
    return f"{type(error).__name__}: {error}" + (f" ({cause})" if cause and str(cause) else "")
