"""Send requests to an endpoint that serves the model."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.models.locations import check_tokenizer, is_local, model_identity
from ragrelay.base.models.model_files import check_chat_template
from ragrelay.base.settings import Matching, Text
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.endpoint_address import check_url, endpoint_addresses, endpoint_identity, endpoint_key
from ragrelay.generation.generator import DECODING, NEUTRAL, PENALTIES, Generator, ThinkingSettings
from ragrelay.generation.thought_marks import decisive_thinking

if TYPE_CHECKING:
    from ragrelay.generation.endpoint import EndpointEngine

TOKENIZER_KEYS = ("date", "max_model_len", "over_window", "trust_remote_code")
"""Keys common to all engines that have an effect here only if the definition has a tokenizer."""
OURS = ("model", "prompt", "messages", "stream", "n", "echo", "max_tokens", "stop", "chat_template_kwargs")
"""Request keys that ``extra_body`` must not contain, because other configuration keys set them, or because they would
change the form of replies."""
PER_REQUEST = ("seed", "logprobs", "top_logprobs")
"""Request keys that ``extra_body`` may only set to null, which omits them from requests."""
# Users sometimes paste the key itself instead of its variable's name.
VARIABLE = Matching(r"[A-Za-z_][A-Za-z0-9_]*", "name of the environment variable with the endpoint's key", shown=False)


def sends_chats(definition: Mapping[str, object]) -> bool:
    """Return whether requests are sent as chat messages, rather than as token ids or plain text."""
    return bool(definition.get("chat")) and "tokenizer" not in definition


class Openai(Generator):
    """sends requests, with all non-null decoding keys, to an OpenAI-compatible endpoint that serves the model."""

    gives_words: ClassVar[bool] = True

    base_url: Text | Annotated[list[Text], Field(min_length=1)] | None = Field(
        None,
        description="The endpoint's address, such as `https://host/v1`, or a list of addresses that serve the same "
        "model. Defaults to the environment variable `OPENAI_BASE_URL`, which is useful for servers whose address "
        "changes; separate several addresses in the variable with spaces.",
    )
    api_key_env: Annotated[str, VARIABLE] | None = Field(
        None,
        description="Name of the environment variable that holds the endpoint's API key. By default, no API key is "
        "sent.",
    )
    max_tokens_name: Text | None = Field(
        None,
        description="Name of the parameter that replaces `max_tokens` in requests if the server rejects `max_tokens`, "
        "e.g. `max_completion_tokens`.",
    )
    extra_body: dict[str, Any] | None = Field(
        None,
        description="Additional parameters for every request, e.g. `{reasoning_effort: low}`. A parameter that is set "
        "to null is left out of requests: set `{logprobs: null}` for a server that doesn't return log-probabilities, "
        "and `{seed: null}` for a server that doesn't support seeds.",
    )
    entropy: bool = Field(
        False,
        description="Request the 20 likeliest candidates for every token, from which the entropies and margins in the "
        "answer store are computed. Replies become many times longer, and some endpoints refuse to return that many "
        "candidates.",
    )
    concurrency: int = Field(
        16, ge=1, description="Maximum number of concurrent requests per address and generation job."
    )
    requests_per_minute: int | None = Field(
        None, ge=1, description="Maximum number of requests started per minute. By default, there is no limit."
    )
    max_retries: int = Field(
        12,
        ge=0,
        description="Maximum number of retries, with growing pauses, if the endpoint is busy or unreachable.",
    )
    request_seconds: float = Field(
        300.0,
        gt=0,
        description="Time limit in seconds for a request, including the complete reply. A request that exceeds the "
        "limit is repeated once.",
    )

    def check_given(self, place: str, given: Mapping[str, object]) -> None:
        """Check that a tokenizer is set if another key needs one, and that no request key is set twice."""
        for key in TOKENIZER_KEYS if self.tokenizer is None else ():
            if key in given:
                expected = "key tokenizer as well, because ragrelay has to tokenise the prompts"
                raise InputError(f"{place}.{key}'", "a key that has no effect on its own", expected)
        if sends_chats(given) and isinstance(self.thinking, ThinkingSettings) and self.thinking.budget is not None:
            expected = "key tokenizer as well, because a chat endpoint has a single limit for thought and answer"
            raise InputError(f"{place}.thinking.budget'", str(self.thinking.budget), expected)
        for key, value in (self.extra_body or {}).items():
            where = f"{place}.extra_body.{key}'"
            if key in OURS:
                raise InputError(where, "a request key that ragrelay sets", "only keys that ragrelay doesn't set")
            if key in PER_REQUEST and value is not None:
                raise InputError(where, repr(value), "no value (ragrelay seeds each request), or null (sends no seed)")
            if key in (*DECODING, *PENALTIES) and not (key in given and given[key] is None):
                raise InputError(
                    where,
                    f"a second value for {key}",
                    f"only one; set the generator's {key} to null, or remove this one",
                )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that addresses are valid, a local tokenizer is usable, and ``truncate`` isn't used without a window."""
        for address in [self.base_url] if isinstance(self.base_url, str) else self.base_url or ():
            check_url(f"{place}.base_url'", address)
        if self.tokenizer and not (study.folder / self.tokenizer).exists() and "/" not in self.tokenizer:
            raise InputError(f"{place}.tokenizer'", f"no folder {self.tokenizer}", "a folder or a hub id")
        if self.tokenizer:
            check_tokenizer(f"{place}.tokenizer'", self.tokenizer, study.folder)
            if self.chat and is_local(self.tokenizer, study.folder):
                check_chat_template(f"{place}.chat'", study.folder / self.tokenizer)
        if self.over_window == "truncate" and self.max_model_len is None:
            raise InputError(f"{place}.over_window'", "truncate without a window", "key max_model_len as well")

    def downloads(self) -> Iterator[Download]:
        """Yield only the tokenizer, because the model is served elsewhere."""
        if self.tokenizer is not None:
            yield Download("tokenizer", self.tokenizer, self.revision, "tokenizer")

    @classmethod
    def start(cls, definition: GeneratorEntry, window: int | None, threads: int) -> "EndpointEngine":
        """Create a client for the endpoint."""
        from ragrelay.generation.endpoint import EndpointEngine

        return EndpointEngine(definition)

    @classmethod
    def decisive(cls, definition: GeneratorEntry, folder: Path, cache_dir: Path | None) -> dict[str, object]:
        """Return the model's name and revision, the first ``base_url``, the decoding keys and the tokenizer.

        An address from the environment isn't included, because a server's address may change between runs. ``sent``
        lists the keys with a neutral value, such as top_p 1. Neutral values are sent only to override the server's
        defaults; earlier versions didn't send them. A key set to null isn't sent; its neutral value is returned, as in
        earlier versions, so that earlier answers can be reused.
        """
        keys: tuple[str, ...] = (*DECODING, "max_tokens_name", "extra_body")
        revision = definition.get("revision")
        identity = {"endpoint": endpoint_identity(definition), "model": f"{definition['model']}@{revision or ''}"}
        if "tokenizer" in definition:
            keys = (*TOKENIZER_KEYS, *keys)
            identity["tokenizer"] = model_identity(definition["tokenizer"], revision, folder, cache_dir)
        if cls.thought_budget(definition):
            identity |= decisive_thinking(definition, folder)
        decoding = {key: definition[key] for key in keys if key in definition}  # type: ignore[literal-required]
        unsent = {key: NEUTRAL[key] for key in NEUTRAL.keys() & decoding if decoding[key] is None}
        sent = sorted(key for key, value in NEUTRAL.items() if definition.get(key) == value)
        return identity | decoding | unsent | ({"sent": sent} if sent else {})

    @classmethod
    def thought_budget(cls, definition: GeneratorEntry) -> int:
        """Return the token limit for thoughts; 0 for a chat without a tokenizer, where only max_tokens applies."""
        return 0 if sends_chats(definition) else super().thought_budget(definition)

    @classmethod
    def check_address(cls, definition: GeneratorEntry) -> None:
        """Check that an address is set and, if the environment contains the API key, that the key can be sent."""
        endpoint_addresses(definition)
        if os.environ.get(definition.get("api_key_env", "")):
            endpoint_key(definition)
