"""Read word probabilities from an endpoint's one-token replies."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.generator import Request
from ragrelay.generation.likelihoods.scoring import REQUEST
from ragrelay.generation.likelihoods.words import text_ids
from ragrelay.generation.requests import CHARACTERS_PER_TOKEN, sends_texts
from ragrelay.generation.token_scores import CANDIDATES
from ragrelay.generation.tokens import PromptTokenizer

if TYPE_CHECKING:
    from ragrelay.generation.endpoint import EndpointEngine


@dataclass(frozen=True)
class WordRequest(Request):
    """A request for word probabilities. ``words``: each word's id in the store, with the texts that spell the word."""

    words: tuple[tuple[str, frozenset[str]], ...] = ()

    @property
    def tokens(self) -> int:
        """The number of tokens in the prompt, estimated if the prompt is sent as text."""
        return len(self.token_ids) or self.size // CHARACTERS_PER_TOKEN


def word_requests(missing: pl.DataFrame, generator: GeneratorEntry, window: int | None) -> list[WordRequest]:
    """Build a request for each prompt in ``missing`` (prompt_id, prompt, system, spellings, begins, continuation).

    The request with the longest prompt comes first and is sent alone, to check that the endpoint doesn't truncate
    prompts. Raises RequestError for a prompt that exceeds ``window`` (None if the window is unknown).
    """
    tokenizer = None if sends_texts(generator) else PromptTokenizer(generator)
    texts = pl.col("prompt", "system", "begins").first()
    rows = missing.group_by("prompt_id", maintain_order=True).agg(texts, pl.col("continuation", "spellings"))
    requests = []
    for prompt_id, prompt, system, begins, continuations, spelled in rows.iter_rows():
        ids: tuple[int, ...] = ()
        if tokenizer is not None:
            ids = (*tokenizer(prompt, system), *text_ids(tokenizer.tokenizer, begins))
            if window is not None and len(ids) >= window:
                found, expected = f"{len(ids)} tokens", f"fewer than the window's {window}"
                raise RequestError(f"prompt {prompt[:60]!r}…", found, expected)
        words = tuple(zip(continuations, map(frozenset, spelled), strict=True))
        requests.append(WordRequest(prompt_id, 0, ids, 0, prompt + begins, system, words=words))
    longest = max(requests, key=lambda request: request.size, default=None)
    return sorted(requests, key=lambda request: request is not longest)


def word_probabilities(engine: "EndpointEngine", requests: Iterator[WordRequest]) -> Iterator[dict[str, Any]]:
    """Yield one row per word for the likelihood store, as each request finishes.

    logprob is -inf if no candidate spells the word. To count each request only once, the columns REQUEST are 0 except
    in the request's first row. Raises InputError if the endpoint fails or doesn't return log-probabilities.
    """
    from ragrelay.generation.endpoint import Form
    from ragrelay.generation.endpoint_replies import check_read

    generator = engine.generator

    def body(request: WordRequest) -> dict[str, object]:
        sent: dict[str, object] = {"temperature": None if generator["temperature"] is None else 0.0}
        sent[generator.get("max_tokens_name", "max_tokens")] = 1
        if engine.as_chat(request):
            sent |= {"logprobs": True, "top_logprobs": CANDIDATES}
        else:
            sent["logprobs"] = CANDIDATES
        sent |= {"chat_template_kwargs": generator.get("chat_template_kwargs") or None}
        sent |= generator.get("extra_body", {})
        return {name: value for name, value in sent.items() if value is not None}

    def row(place: str, request: WordRequest, reply: Any) -> dict[str, object]:
        candidates, read, cached = reply.candidates(), reply.counts.prompt_tokens, reply.counts.cached_tokens()
        if not candidates:
            expected = f"log-probabilities of likely tokens ({'top_' * engine.as_chat(request)}logprobs: {CANDIDATES})"
            found = "a reply without log-probabilities for its first token"
            raise InputError(place, found, f"{expected}, or a judge with engine: vllm")
        check_read(place, request, read)
        rows, figures = [], (1, read, cached)
        for continuation, texts in request.words:
            p = sum(math.exp(logprob) for text, logprob in candidates if text in texts)
            of_word = {"prompt_id": request.prompt_id, "continuation": continuation, "tokens": 1}
            rows.append(
                {**of_word, "logprob": math.log(p) if p else -math.inf, **dict(zip(REQUEST, figures, strict=True))}
            )
            figures = (0, 0, 0)
        return {"rows": rows}

    for made in engine.rows(requests, Form(body, row)):
        yield from made["rows"]
