"""Send concurrent requests to an OpenAI-compatible endpoint, and retry if the endpoint is busy or doesn't reply."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import anyio
import httpx2
import openai
import tenacity
from anyio.from_thread import start_blocking_portal

from ragrelay.base.display.progress import Lines
from ragrelay.base.display.terminal import tell
from ragrelay.base.errors import InputError, printable
from ragrelay.base.io.secret_values import SentKey
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.endpoint_address import Servers, endpoint_addresses, endpoint_key
from ragrelay.generation.endpoint_replies import (
    REFUSED,
    FailureError,
    Reply,
    ReplyError,
    ThoughtReply,
    advice,
    after_thought,
    check_budget,
    check_read,
    check_whole,
    read_reply,
    refused_prompt,
    refused_row,
    reply_row,
    reply_thought,
    request_failure,
    thought_row,
)
from ragrelay.generation.generator import DECODING, ENDPOINT, PENALTIES, SERVED, SEVERAL, SYSTEM, Request
from ragrelay.generation.thought_marks import UNFINISHED, thought_budget, thought_marks
from ragrelay.generation.token_progress import PROGRESS, TOLD_EVERY
from ragrelay.generation.token_scores import CANDIDATES
from ragrelay.generation.tokens import thought_tokens

log = logging.getLogger(__name__)

CONNECT_SECONDS = 30.0
# A request that keeps timing out is given up once its attempts have taken this many times ``request_seconds``.
UNANSWERED = 2
BACKOFF = tenacity.wait_exponential_jitter(multiplier=0.5, max=8.0, jitter=0.5)
# The longest Retry-After header to obey, in seconds; a longer one is an error.
LONGEST_PAUSE = 120.0
BUSY = (408, 409, 429)
REST_SECONDS = 15.0
"""Seconds during which a failed address gets no requests if another is available."""
MOST_ADDRESSES = 64
MESSAGE = 300
"""Maximum characters in a failure message, of which at least 200 are the beginning of the reply."""


class EndpointEngine:
    """A client for the endpoint in a generator's definition.

    The addresses come from ``base_url`` or, if that key is missing, from the environment variable OPENAI_BASE_URL. Each
    request goes to the address with the fewest open requests; failed requests are retried at another address. An API
    key is sent only if ``api_key_env`` names the environment variable that holds the key. The API key is never logged,
    and a reply that contains the API key is never stored. All replies must name the same model, so that answers from
    different models can't be mixed. If the definition has a ``tokenizer``, prompts are sent as token ids, exactly as
    vLLM in the job would receive them. Otherwise, prompts are sent as text, or as chat messages if ``chat`` is true,
    and the server tokenises them. Redirects aren't followed, so that prompts are sent only to the configured addresses.
    Raises InputError if an address or the API key is invalid.
    """

    name = "openai"
    device = ENDPOINT

    def __init__(self, generator: GeneratorEntry) -> None:
        self.generator = generator
        self.version = str(openai.__version__)
        self.settings: dict[str, str] = {}
        """The model named in replies, and the replies' system fingerprints."""
        self._thinks = thought_tokens(generator) if "tokenizer" in generator else None
        self._marks = self._thinks.marks if self._thinks else thought_marks(generator)
        self._key = endpoint_key(generator)
        self._sent = SentKey(self._key)
        # These loggers report each of a study's many requests, and at level DEBUG the server's replies.
        for name in ("httpx2", "httpcore2", "openai"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._given = {_whole(address): address for address in endpoint_addresses(generator)}
        self._servers = Servers([*self._given])
        self._ended, self._models, self._other_models = threading.Event(), threading.Lock(), False
        self._lines = Lines()
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, FailureError) and _may_pass(error.cause)),
            stop=self._is_over,
            wait=lambda state: 0.0 if self._servers.others(self._is_last(state.attempt_number + 1)) else _pause(state),
            sleep=tenacity.sleep_using_event(self._ended),
            before_sleep=self._report,
            reraise=True,
        )

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        """Yield a row for the answer store as each reply arrives."""
        return self.rows(requests, Form(self._body, self._row, thinks=bool(self._marks), may_miss=True))

    def run(
        self, method: Callable[["EndpointEngine", Iterator[object]], Iterator[object]], requests: Iterator[object]
    ) -> Iterator[object]:
        """Call ``method`` with this engine and ``requests``, and yield the resulting rows."""
        return method(self, requests)

    def rows(self, requests: Iterator[Any], form: "Form") -> Iterator[dict[str, Any]]:
        """Send ``requests``, and yield a row as each reply arrives.

        ``form`` builds request bodies and rows. At most ``concurrency`` requests per address are open at a time. Until
        the first answer arrives, requests are sent one at a time, so that only one request fails if the endpoint
        rejects the request body. Rows are held back until every address has been tried, in case the addresses serve
        different models. Raises InputError if the endpoint refuses a request, truncates a prompt, cuts an answer short,
        reports another model, or still fails after all retries. Finished rows are yielded before the error is raised.
        """
        self._ended.clear()
        limit, pace = 1, _Pace(self.generator.get("requests_per_minute"))
        under_way: set[Future[dict[str, Any]]] = set()
        begun, took, told = dict[Future[dict[str, Any]], float](), list[tuple[float, float]](), 0.0
        waiting: list[dict[str, Any]] = []
        pool = ThreadPoolExecutor(self.generator["concurrency"] * MOST_ADDRESSES)
        with self._connected() as send:
            try:
                while True:
                    for request in islice(requests, limit - len(under_way)):
                        pace.wait()
                        begun[future := pool.submit(self._ask, request, form, send)] = time.monotonic()
                        under_way.add(future)
                    if not under_way:
                        yield from waiting
                        break
                    done, under_way = wait(under_way, TOLD_EVERY, return_when=FIRST_COMPLETED)
                    now = time.monotonic()
                    ended = [(now - begun.pop(future), future) for future in done]
                    rows = [(seconds, future.result()) for seconds, future in ended if not future.exception()]
                    took += [(seconds, row["answer_tokens"]) for seconds, row in rows if row.get("answer_tokens")]
                    if (progress := PROGRESS.get()) and now - told >= TOLD_EVERY:
                        told = now
                        progress.waited(took, [now - since for since in begun.values()])
                    failed = [future for future in done if future.exception()]
                    if failed:
                        self._ended.set()
                        finished, _ = wait(under_way)
                        done |= finished
                    waiting += [future.result() for future in done if not future.exception()]
                    if limit > 1 or not all("refusal" in row for row in waiting):
                        limit = self.generator["concurrency"] * min(MOST_ADDRESSES, len(self._servers.addresses))
                    if not self._other_models and (failed or self._servers.all_tried()):
                        yield from waiting
                        waiting.clear()
                    if failed:
                        failed[0].result()
            finally:
                # Don't wait for open requests, so that a stopped job saves its finished answers immediately.
                self._ended.set()
                pool.shutdown(wait=False, cancel_futures=True)
        self._report_shares()

    @contextmanager
    def _connected(self) -> Iterator["Send"]:
        """Open connections to the endpoint on a separate event loop; on exit, close them and end open requests."""
        seconds = self.generator["request_seconds"]
        client = openai.AsyncOpenAI(
            base_url=self._servers.addresses[0],
            api_key=self._key or "none",
            organization="",
            project="",
            max_retries=0,
            timeout=openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            http_client=openai.DefaultAsyncHttpx2Client(follow_redirects=False),
        )
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
            yield lambda request, form, address: portal.call(self._exchange, request, form, client, address)

    def _place(self, address: str) -> str:
        return f"endpoint {address}, model {self.generator['model']!r}"

    def _ask(self, request: Request, form: "Form", send: "Send") -> dict[str, Any]:
        """Return the store's row for a request; if the endpoint refuses the prompt, a row without an answer.

        If the thought is a separate request, it is sent first; the request for the answer then includes it.
        """
        try:
            if not form.thinks or self.as_chat(request):
                return self._retrying(self._try, request, form, send)
            thought = self._retrying(self._try, request, Form(self._thought_body, self._thought), send)
            if thought.thought.end == UNFINISHED:
                return thought_row(request, thought, {})
            following = after_thought(request, thought, self._thinks)
            return thought_row(request, thought, self._retrying(self._try, following, form, send))
        except FailureError as failure:
            error, seconds = failure.cause, self.generator["request_seconds"]
            within = f" within {seconds:g} s (request_seconds)" if isinstance(error, openai.APITimeoutError) else ""
            expected = f"an answer{within}{advice(error, self.generator)}"
            place, found = self._place(failure.address), self._failure(error)
            reason = refused_prompt(error)
            known = reason != REFUSED or (self._servers.replies[failure.address] and not form.thinks)
            if form.may_miss and reason and known:
                return refused_row(request, reason, InputError(place, found, expected))
            listed = self._shares()
            raise InputError(place, f"{found} (replies: {listed})" if listed else found, expected) from None

    def _try(self, request: Request, form: "Form", send: "Send") -> Any:
        """Send a request once and return the row that ``form`` builds from the reply; a failed address rests."""
        with self._servers.one(self._is_last(self._retrying.statistics["attempt_number"])) as address:
            place = self._place(address)
            try:
                response = send(request, form, address)
                if self._sent.is_in(response.content.decode("utf-8", "replace")):
                    expected = "an endpoint that doesn't repeat the key"
                    raise InputError(place, "the API key in a reply, which is therefore not stored", expected)
                reply = read_reply(response, self.as_chat(request))
            except (openai.OpenAIError, ReplyError) as error:
                if _may_pass(error):
                    self._servers.rest(address, _retry_after(error) or REST_SECONDS)
                raise FailureError(address, error) from error
            self._check_model(place, reply)
            row = form.row(place, request, reply)
            self._servers.answered(address)
            return row

    def _check_model(self, place: str, reply: Reply[Any]) -> None:
        """Raise InputError if a reply names a different model than earlier ones; else record its system fingerprint."""
        with self._models:
            name, fingerprint = str(reply.model or ""), str(reply.system_fingerprint or "")
            known = self.settings.setdefault(SERVED, name) if name else name
            if name != known:
                self._other_models = True
                found = f"a reply from model {name!r}, but earlier replies or cached answers from {known!r}"
                expected = "the same model in all replies; to use another model, change the generator's key revision"
                raise InputError(place, found, expected)
            if prints := {*self.settings.get(SYSTEM, "").split(SEVERAL), fingerprint} - {""}:
                self.settings[SYSTEM] = SEVERAL.join(sorted(prints))

    def _row(self, place: str, request: Request, reply: Reply[Any]) -> dict[str, object]:
        row = reply_row(request, reply)
        check_whole(place, request, row, self.generator["max_tokens"])
        return row

    def _thought(self, place: str, request: Request, reply: Reply[Any]) -> ThoughtReply:
        thought = reply_thought(request, reply, self._marks or (), self._thinks)
        check_read(place, request, thought.prompt_tokens)
        check_budget(place, request, thought, request.budget or thought_budget(self.generator))
        return thought

    async def _exchange(
        self, request: Request, form: "Form", client: openai.AsyncOpenAI, address: str
    ) -> httpx2.Response:
        """Send a request and read the complete reply within ``request_seconds``.

        The client's limits apply to each wait, so a server that sends a byte now and then could keep a request open.
        """
        path, texts = "/completions", {"prompt": list(request.token_ids) or request.prompt}
        if self.as_chat(request):
            path, texts = "/chat/completions", {"messages": _messages(request)}
        body = {"model": self.generator["model"], **texts, **form.body(request)}
        headers: Any = {} if self._key else {"Authorization": openai.Omit()}
        try:
            with anyio.fail_after(self.generator["request_seconds"]):
                sender = client.with_options(base_url=address)
                return await sender.post(path, cast_to=httpx2.Response, body=body, options={"headers": headers})
        except TimeoutError:
            raise openai.APITimeoutError(httpx2.Request("POST", address)) from None

    def _is_last(self, attempt: int) -> bool:
        """Return whether ``attempt`` is one of a request's last two attempts, but not its first."""
        return attempt > max(1, int(self.generator["max_retries"]) - 1)

    def _is_over(self, state: tenacity.RetryCallState) -> bool:
        """Return whether to give up on a request: too many attempts, timeouts for too long, or the job is ending."""
        silent = isinstance(_failure(state).cause, openai.APITimeoutError)
        waited = state.seconds_since_start or 0.0
        return (
            self._ended.is_set()
            or state.attempt_number > self.generator["max_retries"]
            or (silent and waited >= UNANSWERED * self.generator["request_seconds"])
        )

    def _report(self, state: tenacity.RetryCallState) -> None:
        failure, tries = _failure(state), self.generator["max_retries"]
        begin = f"{self._place(failure.address)}: {self._failure(failure.cause)}"
        text = f"{begin}; retry {state.attempt_number} of {tries} in {state.upcoming_sleep:.1f} s"
        log.warning(text)
        if not self._servers.others():
            self._lines.say(lambda: text)
        elif self._servers.fails(failure.address):
            log.warning("%s; the other addresses get its requests", begin)
            tell(f"ragrelay: warning: {begin}; the other addresses get its requests")

    def replied(self) -> list[str]:
        """Return the configured addresses that have sent at least one reply."""
        return [given for address, given in self._given.items() if self._servers.replies[address]]

    def _shares(self) -> str:
        return ", ".join(f"{address} gave {number}" for address, number in self._servers.shares().items())

    def _report_shares(self) -> None:
        """Report each address's number of replies if one address failed and others took over."""
        if listed := self._shares():
            log.warning("replies of model %r: %s", self.generator["model"], listed)
            tell(f"ragrelay: warning: replies of model {self.generator['model']!r}: {listed}")

    def _failure(self, error: Exception) -> str:
        return printable(self._sent.hidden(" ".join(request_failure(error).split())))[:MESSAGE]

    def as_chat(self, request: Request) -> bool:
        """Return whether ``request`` is sent as chat messages, which the server tokenises."""
        return self.generator.get("chat", False) and not request.token_ids

    def _body(self, request: Request) -> dict[str, object]:
        """Return a request's keys other than model and prompt: all decoding keys that aren't null.

        Values without effect are sent too, because a server may have other defaults (a model's generation_config.json).
        """
        generator = self.generator
        body = {name: generator[name] for name in (*DECODING, *PENALTIES)}  # type: ignore[literal-required]
        body[generator.get("max_tokens_name", "max_tokens")] = body.pop("max_tokens")
        # OpenAI refuses an empty list of stop strings.
        body |= {"stop": list(generator["stop"]) or None, "seed": request.seed}
        candidates = CANDIDATES if generator["entropy"] else 0
        if self.as_chat(request):
            body |= {"logprobs": True, "top_logprobs": candidates or None}
        else:
            body["logprobs"] = candidates
        if self._thinks and self._thinks.hidden is not None:
            body["skip_special_tokens"] = False
        body |= {"chat_template_kwargs": generator.get("chat_template_kwargs") or None}
        body |= generator.get("extra_body", {})
        return {name: value for name, value in body.items() if value is not None}

    def _thought_body(self, request: Request) -> dict[str, Any]:
        """Return the keys of a request for a thought: other stopping rules than an answer's, no log-probabilities.

        With a tokenizer, the request also asks for the thought's token ids (vLLM returns them), so that the answer can
        continue from these.
        """
        if not self._marks or self.as_chat(request):
            return {}
        generator, body = self.generator, self._body(request)
        budget = request.budget or thought_budget(generator)
        body.pop("logprobs", None)
        ends = {
            generator.get("max_tokens_name", "max_tokens"): budget, "stop": [self._marks[1]],
            "min_tokens": 0 if "min_tokens" in body else None, "include_stop_str_in_output": True,
            "return_token_ids": True if self._thinks else None,
        }  # fmt: skip
        left_out = {key: None for key, value in generator.get("extra_body", {}).items() if value is None}
        return {name: value for name, value in (body | ends | left_out).items() if value is not None}


def _whole(address: str) -> str:
    return str(httpx2.URL(address if address.endswith("/") else f"{address}/"))


def _failure(state: tenacity.RetryCallState) -> FailureError:
    failure: Any = state.outcome and state.outcome.exception()
    return failure


def _retry_after(error: Exception) -> float | None:
    """Return the number of seconds that the endpoint asks clients to wait; None if it doesn't say."""
    headers = error.response.headers if isinstance(error, openai.APIStatusError) else {}
    seconds = headers.get("retry-after", "")
    return float(seconds) if seconds.isdecimal() else None


def _may_pass(error: Exception) -> bool:
    """Return whether the same request may succeed later."""
    if refused_prompt(error):
        return False
    if isinstance(error, openai.APIStatusError):
        patient = (_retry_after(error) or 0.0) <= LONGEST_PAUSE
        return patient and (error.status_code in BUSY or error.status_code >= 500)
    return isinstance(error, ReplyError | openai.APIConnectionError)


def _pause(state: tenacity.RetryCallState) -> float:
    """Return the seconds before the next attempt: what the endpoint asks for, or else longer after each attempt."""
    seconds = _retry_after(_failure(state).cause)
    return BACKOFF(state) if seconds is None else seconds


class Form(NamedTuple):
    """Two functions: one builds a request's body (except model and prompt), the other converts the reply to a row.

    The arguments of ``row`` are the endpoint's name (for error messages), the request and the reply. ``row`` raises
    InputError for a reply that must not be stored; no further requests are then sent.
    """

    body: Callable[[Any], dict[str, Any]]
    row: Callable[[str, Any, Reply[Any]], Any]
    thinks: bool = False
    """Whether to request the thought before the answer, if the generator's thoughts are separate requests."""
    may_miss: bool = False
    """Whether a prompt that the endpoint refuses gets a row without an answer instead of an error."""


Send = Callable[[Request, Form, str], httpx2.Response]
"""Sends a request to an address and returns its reply."""


class _Pace:
    """Starts requests at least 60 / ``per_minute`` seconds apart; with None, without a pause."""

    def __init__(self, per_minute: int | None) -> None:
        self.step, self.next = 60.0 / per_minute if per_minute else 0.0, time.monotonic()

    def wait(self) -> None:
        now = time.monotonic()
        if self.next > now:
            time.sleep(self.next - now)
        self.next = max(self.next, now) + self.step


def _messages(request: Request) -> Any:
    system = [{"role": "system", "content": request.system}] if request.system else []
    return [*system, {"role": "user", "content": request.prompt}]
