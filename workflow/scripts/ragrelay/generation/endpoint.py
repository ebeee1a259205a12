"""A model behind an OpenAI-compatible endpoint, asked by several threads; retries with backoff are the client's."""

import logging
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from ragrelay.errors import InputError
from ragrelay.generation.requests import Request

URL_VARIABLE = "OPENAI_BASE_URL"
NO_KEY = "none"


class EndpointEngine:
    """The endpoint of a generator's definition.

    ``base_url`` or else the environment's OPENAI_BASE_URL says where it is. A key is sent only where ``api_key_env``
    names the environment variable that holds it; it is never logged. Prompts go as token ids where the definition names
    a ``tokenizer``, so that they are the same as with vLLM in this process; else as texts, to the endpoint's
    completions, or to its chat completions (``chat``), whose tokenisation is the server's own.
    Raises InputError where the address or the key is missing.
    """

    name = "openai"
    device = "endpoint"

    def __init__(self, generator: Mapping[str, Any]) -> None:
        import openai

        self.generator = generator
        self.version = str(openai.__version__)
        url = generator.get("base_url") or os.environ.get(URL_VARIABLE)
        if not url:
            raise InputError(
                f"environment variable {URL_VARIABLE}", "nothing", "an endpoint's address, or key base_url"
            )
        self._key = _api_key(generator)
        # The client's logger tells every request at INFO; a study makes hundreds of thousands.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._client = openai.OpenAI(
            base_url=url,
            api_key=self._key,
            organization="",
            project="",
            max_retries=generator["max_retries"],
            timeout=generator["request_seconds"],
        )

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        """Yield one store row per request, as they finish; at most ``concurrency`` are under way.

        Raises InputError for a request that the endpoint refuses, and for an endpoint that can't be reached or stays
        busy after all retries. What is finished by then was yielded.
        """
        limit, pace = self.generator["concurrency"], _Pace(self.generator.get("requests_per_minute"))
        under_way: set[Future[dict[str, Any]]] = set()
        with ThreadPoolExecutor(limit) as pool:
            while True:
                for request in islice(requests, limit - len(under_way)):
                    pace.wait()
                    under_way.add(pool.submit(self._ask, request))
                if not under_way:
                    return
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                failed = [future for future in done if future.exception()]
                if failed:
                    finished, _ = wait(under_way)
                    done |= finished
                yield from (future.result() for future in done if not future.exception())
                if failed:
                    failed[0].result()

    def _ask(self, request: Request) -> dict[str, Any]:
        import openai

        chosen = self._parameters(request.seed)
        as_chat = self.generator.get("chat", False) and not request.token_ids
        try:
            if as_chat:
                reply = self._client.chat.completions.create(messages=_messages(request), logprobs=True, **chosen)
            else:
                prompt = list(request.token_ids) or request.prompt
                reply = self._client.completions.create(prompt=prompt, logprobs=0, **chosen)
        except openai.OpenAIError as error:
            said = " ".join(str(error).split()).replace(self._key, "***")[:300]
            place = f"endpoint {self._client.base_url}, model {self.generator['model']!r}"
            raise InputError(place, f"{type(error).__name__}: {said}", "an answer") from None
        return _row(request, reply, as_chat)

    def _parameters(self, seed: int) -> dict[str, Any]:
        generator = self.generator
        # Not of OpenAI's own interface, so only where they do something.
        extra = {name: generator[name] for name in ("top_k", "min_p") if generator[name]}
        if generator.get("chat_template_kwargs"):
            extra["chat_template_kwargs"] = generator["chat_template_kwargs"]
        names = ("model", "temperature", "top_p", "max_tokens")
        chosen = {name: generator[name] for name in names} | {"seed": seed, "extra_body": extra}
        return chosen | ({"stop": list(generator["stop"])} if generator["stop"] else {})


class _Pace:
    """Keeps starts of requests 60 / ``per_minute`` seconds apart; None doesn't."""

    def __init__(self, per_minute: int | None) -> None:
        self.step, self.next = 60.0 / per_minute if per_minute else 0.0, time.monotonic()

    def wait(self) -> None:
        now = time.monotonic()
        if self.next > now:
            time.sleep(self.next - now)
        self.next = max(self.next, now) + self.step


def _api_key(generator: Mapping[str, Any]) -> str:
    variable = generator.get("api_key_env")
    if variable is None:
        return NO_KEY
    key = os.environ.get(variable)
    if not key:
        raise InputError(f"environment variable {variable}", "nothing", "the endpoint's key, as api_key_env says")
    return key


def _messages(request: Request) -> Any:
    system = [{"role": "system", "content": request.system}] if request.system else []
    return [*system, {"role": "user", "content": request.prompt}]


def _row(request: Request, reply: Any, as_chat: bool) -> dict[str, Any]:
    choice, usage = reply.choices[0], reply.usage
    details = getattr(usage, "prompt_tokens_details", None)
    if as_chat:
        text = choice.message.content
        logprobs = [token.logprob for token in choice.logprobs.content or ()] if choice.logprobs else []
    else:
        text = choice.text
        logprobs = (choice.logprobs.token_logprobs or []) if choice.logprobs else []
    return {
        "prompt_id": request.prompt_id,
        "seed": request.seed,
        "answer": (text or "").strip(),
        "finish_reason": str(choice.finish_reason),
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": int(getattr(details, "cached_tokens", None) or 0),
        "answer_tokens": usage.completion_tokens,
        "logprob": float(sum(logprobs)) if logprobs else None,
        "dropped_passages": request.dropped_passages,
    }
