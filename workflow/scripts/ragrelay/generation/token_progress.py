"""Estimate a generation job's tokens and time before its engine starts, and track progress token by token.

A batch's answers start together and finish late, so the number of finished answers says little about the time left.
"""

import logging
import math
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ragrelay.base.display.progress import Lines
from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.base.models.gguf_conversion import model_source
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.engines.vllm import product_seconds
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.past_jobs import PROMPT_TOKENS_PER_ANSWER_TOKEN, TIMED_PARTS, Speed, prompt_speed, speed_of
from ragrelay.generation.requests import block_tokens, longest_reply, prompt_lengths
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import Layout

log = logging.getLogger(__name__)

SAMPLE = 64
"""Number of prompts to tokenise for the estimate: the first, which belong to a random sample of queries."""
LOGGED_EVERY, LOGGED_SHARE = 10.0, 0.1
"""Minimum time between two log records: in seconds, and as a share of the elapsed time."""
PRIOR = 8
"""The weight of stored answers in estimates of length, as a number of answers."""
STEP, STEPS = 1.0, 3600
"""Seconds between samples of the token counts; the time per token is estimated from at most this many samples."""
TOLD_EVERY = 1.0
"""Seconds between an engine's reports on the tokens of unfinished answers."""
CPU_RATIO = 1.5
"""How many prompt tokens take as long as one answer token on a CPU (1.4 with SmolLM2, float32, 92 answers at once)."""
LOST = 2.0
"""An engine's time on a CPU, as a multiple of the time for its matrix products alone."""


class TokenProgress:
    """The progress of a generation job in tokens, including the tokens of unfinished answers.

    ``prompts``: total prompt tokens for ``number`` answers; ``computed``: prompt tokens not in the prefix cache.
    ``usual``: the mean tokens per stored answer, and the share of answers that ended before ``longest`` tokens.
    ``speed``: the engine's speed; None if unknown. ``basis``: a phrase that says where the speed comes from.
    """

    unit = "answers"

    def __init__(
        self, number: int, prompts: float, computed: float, usual: tuple[float, float] | None, longest: int,
        speed: Speed | None, basis: str,
    ) -> None:  # fmt: skip
        self.number, self.prompts, self.computed, self.longest = number, prompts, computed, longest
        self.usual, self._each = usual, usual[0] if usual else longest
        self.speed, self.basis = speed, basis
        measured = speed.answer / speed.prompt if speed and speed.prompt else 0.0
        self._ratio = measured or PROMPT_TOKENS_PER_ANSWER_TOKEN
        self._finished = self._stopped = 0
        self._wait, self._pace, self._most = 0.0, 0.0, 0
        self._steps: list[tuple[float, float, float]] = []
        self._made, self._unfinished = (0.0, 0.0), (0.0, 0.0)
        self._told = False

    def expected(self) -> str:
        """Describe how many answers and tokens to expect, and how long they will take."""
        answers = self.number * self._each
        known = self.speed and _shown(self.speed.seconds(self.computed, answers))
        took = (
            f"about {known} from the engine's start, by {self.basis}"
            if known
            else "time unknown because no similar job has run yet"
        )
        return (
            f"to generate: {self.number:,} {self.unit}, about {self.prompts:,.0f} prompt tokens{self._also()}; {took}"
        )

    def _also(self) -> str:
        answers = f"{'about' if self.usual else 'at most'} {self.number * self._each:,.0f} answer tokens"
        return f", {self.computed:,.0f} of them not in the prefix cache, {answers}"

    def start(self) -> None:
        """Start measuring the time. The engine must be ready."""
        self._lines, self._began = Lines(later=True), time.monotonic()
        self._next = self._began + LOGGED_EVERY
        PROGRESS.set(self)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a finished answer's tokens; estimate the counts that an endpoint doesn't report."""
        self._finished += 1
        self._stopped += row["finish_reason"] != "length"
        prompt, cached, answer = (row[name] for name in ("prompt_tokens", "cached_tokens", "answer_tokens"))
        computed = self.computed / self.number if prompt is None else prompt - (cached or 0)
        self._made = self._made[0] + computed, self._made[1] + (self._each if answer is None else answer)
        if not self._told:  # otherwise this answer is still among the unfinished ones
            self.tell()

    def begun(self, prompt: float, answer: float) -> None:
        """Set the numbers of prompt and answer tokens that the engine has computed for unfinished answers."""
        self._unfinished, self._told = (prompt, answer), True
        self.tell()

    def waited(self, took: Sequence[tuple[float, float]], seconds: Sequence[float]) -> None:
        """Estimate the unfinished requests' tokens, because endpoints report tokens only when a request ends.

        ``seconds``: the time since each unfinished request was sent. ``took``: time in seconds and number of answer
        tokens for each finished request; a line is fitted to these pairs.
        """
        self._told, self._most = True, max(self._most, len(seconds))
        if took and self._made[1]:
            times, tokens = np.array(took, dtype=float).T
            self._wait, self._pace = 0.0, times.sum() / max(1.0, tokens.sum())
            if tokens.var():
                pace = float(np.cov(tokens, times, bias=True)[0, 1] / tokens.var())
                self._pace = min(max(pace, 0.1 * self._pace), self._pace)
                self._wait = float((times - self._pace * tokens).mean())
            made = np.clip((np.array(seconds) - self._wait) / self._pace, 0.0, self.longest)
            self.begun(len(seconds) * self.computed / self.number, float(made.sum()))

    def tell(self) -> None:
        """Report progress on the terminal and in the log, unless the last report is too recent."""
        seconds = time.monotonic() - self._began
        if not self._steps or seconds - self._steps[-1][2] >= STEP:
            self._steps.append((*self._tokens(), seconds))
        self._lines.say(self._text)
        if (now := time.monotonic()) >= self._next:
            self._next = now + max(LOGGED_EVERY, LOGGED_SHARE * (now - self._began))
            log.info(self._text())

    def _tokens(self) -> tuple[float, float]:
        """Return the prompt tokens and the answer tokens so far."""
        return self._made[0] + self._unfinished[0], self._made[1] + self._unfinished[1]

    def _text(self) -> str:
        prompt, answer = self._tokens()
        unfinished = self.number - self._finished
        room = self.longest - self._unfinished[1] / max(1, unfinished)
        # Assumes that every token has the same probability of being an answer's last. Stored answers count as PRIOR.
        ends = self._stopped + PRIOR * (self.usual[1] if self.usual else 0.0)
        mean = (answer + PRIOR * (self.usual[0] if self.usual else 0.0)) / ends if ends else math.inf
        more = unfinished * (room if math.isinf(mean) else mean * -math.expm1(-room / mean))
        prompts, answers = max(prompt, self.computed), answer + more
        speed = self._measured()
        seconds = speed.seconds(prompts - prompt, answers - answer) if speed else 0.0
        if self._pace and unfinished:
            # The other requests wait for an open one to end; at the end, the longest of the last requests counts.
            waiting = max(0, unfinished - self._most)
            usual = self.longest if math.isinf(mean) else mean * -math.expm1(-self.longest / mean)
            last = min(self.longest if waiting else room, mean * math.log1p(min(unfinished, self._most)))
            seconds = waiting * (self._wait + self._pace * usual) / self._most + self._pace * last
        left = f", {_shown(seconds)} left" if speed else ""
        tokens = f"{prompt + answer:,.0f} of about {prompts + answers:,.0f} tokens"
        return f"{self._finished:,} of {self.number:,} {self.unit}, {tokens}{left}"

    def _measured(self) -> Speed | None:
        """Return the speed so far. A sample's time is attributed to whichever tokens, prompt or answer, took longer."""
        prompt, answer, seconds = np.diff([(0.0, 0.0, 0.0), *self._steps[-STEPS:]], axis=0).T
        late = self._ratio * answer > prompt
        work = np.where(late, answer + prompt / self._ratio, prompt + self._ratio * answer)
        first, later = (float(seconds[of].sum() / work[of].sum()) if work[of].sum() else 0.0 for of in (~late, late))
        return Speed(first or later / self._ratio, later or first * self._ratio) if first or later else None


class PromptProgress(TokenProgress):
    """The progress of a job that computes ``number`` likelihoods. ``tokens``: prompt tokens in all ``requests``."""

    unit = "likelihoods"

    def __init__(self, number: int, tokens: int, requests: int, store: PartStore) -> None:
        parts = store.parts(latest=TIMED_PARTS)
        basis = f"earlier jobs on {store.metadata(parts[-1]).get('device')}" if parts else ""
        super().__init__(number, tokens, tokens, None, 0, prompt_speed(store), basis)
        self._mean = tokens / requests

    def add(self, row: Mapping[str, object]) -> None:
        """Count a likelihood's prompt tokens, cached or not, because the number of cached tokens is unpredictable."""
        tokens = self._mean if row["prompt_tokens"] is None else row["prompt_tokens"]
        super().add({"prompt_tokens": tokens, "cached_tokens": 0, "answer_tokens": 0, "finish_reason": "length"})

    def begun(self, prompt: float, answer: float) -> None:
        """Do nothing, because likelihoods have no answer tokens, and prompts finish soon after they begin."""

    def _also(self) -> str:
        return ""


PROGRESS: ContextVar[Any] = ContextVar("progress", default=None)
"""The job's TokenProgress, or an object that forwards to it, for engines that know the tokens of unfinished answers."""


def token_progress(
    missing: pl.DataFrame, generator: GeneratorEntry, window: int | None, layout: Layout, store: AnswerStore
) -> TokenProgress:
    """Estimate the tokens and time for ``missing`` from a sample of its prompts and from answers in ``store``."""
    import torch

    distinct, parts = missing.unique("prompt_id", keep="first", maintain_order=True), store.parts(latest=TIMED_PARTS)
    on_cpu = GENERATOR_KINDS[generator["engine"]].in_job and not torch.cuda.is_available()
    block = block_tokens(generator, "cpu" if on_cpu else None)
    sample = distinct.head(SAMPLE)
    sums = prompt_lengths(sample, generator, window, layout, block, 1).sum()
    tokens, first, again = sums.select("prompt_tokens", "shared_first", "shared_again").row(0)
    sizes = (float(keys.select(pl.col("size").sum()).item()) for keys in (distinct, sample))
    scale, more = next(sizes) / next(sizes), len(missing) / len(distinct) - 1
    stored = store.scan(parts, ["answer_tokens", "finish_reason"]).select(
        pl.col("answer_tokens").mean(), (pl.col("finish_reason") != "length").mean()
    )
    usual = stored.collect().row(0) if parts else (None, None)
    speed, basis = speed_of(store), f"earlier jobs on {store.metadata(parts[-1]).get('device')}" if parts else ""
    if speed is None and on_cpu:
        speed, basis = _by_product(generator), "a product of matrices"
    return TokenProgress(
        len(missing), scale * tokens * (1 + more), scale * (tokens - first + (tokens - again) * more),
        None if None in usual else usual, longest_reply(generator), speed, basis,
    )  # fmt: skip


def _by_product(generator: GeneratorEntry, size: int = 1024) -> Speed | None:
    """Return the speed that matrix products allow on this processor; None without a local folder with weights."""
    import torch

    dtype = getattr(torch, generator["dtype"])
    weights = sum(path.stat().st_size for path in Path(model_source(generator)[0]).glob("*.safetensors"))
    seconds = LOST * weights / dtype.itemsize * product_seconds(dtype, size, 3) / size**3
    return Speed(seconds, CPU_RATIO * seconds) if seconds else None


def _shown(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
