"""Tokens and time of a generation job: what it expects before the engine starts, and what it tells of its progress."""

import logging
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from ragrelay.generation import token_progress as module
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.past_jobs import Speed
from ragrelay.generation.status import TOLD
from ragrelay.generation.token_progress import PromptProgress, TokenProgress


class Batch:
    """An engine's batch: prompts at ``prompt`` seconds per token, then all answers together, a token of each a step."""

    def __init__(self, lengths: list[int], longest: int, prompt: float, answer: float) -> None:
        self.lengths, self.longest, self.prompt, self.answer = lengths, longest, prompt, answer
        self.seconds = 150 * len(lengths) * prompt + sum(lengths) * answer

    def told(self, progress: TokenProgress, now: list[float]) -> list[tuple[float, float]]:
        """Return the time and the seconds left of each line, as the run goes on."""
        found, number = [], len(self.lengths)
        progress.start()
        for done in range(1, number + 1):
            now[0] += 150 * self.prompt
            progress.begun(150.0 * done, 0.0)
            found.append((now[0], left(progress)))
        left_over = sorted(self.lengths)
        for step in range(1, self.longest + 1):
            now[0] += len(left_over) * self.answer
            for length in [each for each in left_over if each == step]:
                left_over.remove(length)
                end = "length" if length == self.longest else "stop"
                progress.add({"prompt_tokens": 150, "cached_tokens": 0, "answer_tokens": length, "finish_reason": end})
            progress.begun(150.0 * len(left_over), float(step * len(left_over)))
            found.append((now[0], left(progress)))
        return found


def left(progress: TokenProgress) -> float:
    match = TOLD.fullmatch(progress._text())
    assert match and match[4], progress._text()
    return (int(match[4]) * 60 + int(match[5])) * 60 + int(match[6])


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only this test moves."""
    now = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


LENGTHS = {
    "as the demo's, most of them cut": [60] * 240 + [7, 20, 33, 41, 52] * 8,
    "most end by themselves": [min(300, 1 + round(-100 * math.log1p(-share / 280))) for share in range(280)],
    "all are cut": [300] * 100,
}


@pytest.mark.parametrize("speeds", [(0.001, 0.0027), (0.001, 0.0015), (0.001, 0.004)])
@pytest.mark.parametrize("name", LENGTHS)
def test_the_first_minutes_estimate(name: str, speeds: tuple[float, float], now: list[float]) -> None:
    """Within a factor of 1.5 of the time that is left, from the first answer token on, where nothing ran before."""
    lengths = LENGTHS[name]
    longest = 300 if name == "most end by themselves" else max(lengths)
    batch = Batch(lengths, longest, *speeds)
    progress = TokenProgress(len(lengths), 150 * len(lengths), 150 * len(lengths), None, longest, None, "")
    begun = 150 * len(lengths) * batch.prompt + 6
    told = [(at, seconds) for at, seconds in batch.told(progress, now) if at > begun]
    wrong = [(at, seconds) for at, seconds in told if not 1 / 1.5 <= (seconds + 3) / (batch.seconds - at + 3) <= 1.5]
    assert len(told) > 20 and not wrong


def test_earlier_jobs_tell_from_the_first_prompt_on(now: list[float]) -> None:
    """Their lengths and speeds hold before the first answer token."""
    lengths = LENGTHS["most end by themselves"]
    batch = Batch(lengths, 300, 0.001, 0.005)
    progress = TokenProgress(280, 42000, 42000, (95.0, 0.95), 300, Speed(0.001, 0.005), "earlier jobs on cpu")
    wrong = [(at, s) for at, s in batch.told(progress, now) if not 1 / 1.5 <= (s + 3) / (batch.seconds - at + 3) <= 1.5]
    assert not wrong


class Served:
    """An endpoint with ``open`` requests side by side: each takes ``wait`` seconds, and ``pace`` seconds per token."""

    def __init__(self, lengths: list[int], longest: int, open: int, wait: float, pace: float) -> None:
        self.lengths, self.longest, self.open, self.wait, self.pace = lengths, longest, open, wait, pace

    def told(self, progress: TokenProgress, now: list[float]) -> list[tuple[float, float]]:
        """Return the time and the seconds left of each second, as the run goes on, and its end."""
        found, queue, took = [], [*reversed(self.lengths)], list[tuple[float, float]]()
        under_way: list[tuple[float, float, int]] = []
        progress.start()
        progress.waited([], [])
        while queue or under_way:
            while queue and len(under_way) < self.open:
                length = queue.pop()
                under_way.append((now[0] + self.wait + length * self.pace, now[0], length))
            end, began, length = min(under_way)
            second = math.floor(now[0]) + 1.0
            now[0] = min(end, second)
            if now[0] == end:
                under_way.remove((end, began, length))
                took.append((end - began, length))
                reason = "length" if length == self.longest else "stop"
                row = {"prompt_tokens": 150, "cached_tokens": None, "answer_tokens": length, "finish_reason": reason}
                progress.add(row)
            if now[0] == second:
                progress.waited(took, [now[0] - since for _, since, _ in under_way])
                if len(took) >= 10:
                    found.append((now[0], left(progress)))
        return found


@pytest.mark.parametrize("pace", [0.02, 0.1])
@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize(("open", "wait"), [(64, 0.5), (16, 2.0), (300, 1.0)])
def test_the_first_minutes_estimate_of_an_endpoint(
    name: str, open: int, wait: float, pace: float, now: list[float]
) -> None:
    """It tells tokens of ended answers only. Within a factor of 1.5, and 8 s, from the tenth end on."""
    lengths = [LENGTHS[name][place * 97 % len(LENGTHS[name])] for place in range(len(LENGTHS[name]))]
    longest = 300 if name == "most end by themselves" else max(lengths)
    served = Served(lengths, longest, open, wait, pace)
    progress = TokenProgress(len(lengths), 150 * len(lengths), 150 * len(lengths), None, longest, None, "")
    told = served.told(progress, now)
    minute = [(at, s) for at, s in told if at <= told[0][0] + 60]
    wrong = [(at, s, now[0] - at) for at, s in minute if not 1 / 1.5 <= (s + 8) / (now[0] - at + 8) <= 1.5]
    assert not wrong and (told or open >= len(lengths))


def test_counts_that_an_endpoint_does_not_tell(now: list[float]) -> None:
    """The estimates stand for them."""
    progress = TokenProgress(4, 400, 400, None, 30, None, "")
    progress.start()
    now[0] += 10
    progress.add({"prompt_tokens": None, "cached_tokens": None, "answer_tokens": None, "finish_reason": "length"})
    assert progress._text() == "1 of 4 answers, 130 of about 520 tokens, 0:00:30 left"


def test_likelihoods_count_by_their_prompts(now: list[float], tmp_path: Path) -> None:
    """A long prompt weighs more. The next job knows the speed of this one before it starts."""
    store = LikelihoodStore(tmp_path, "f")
    progress = PromptProgress(6, 1000, 3, store)
    assert (
        progress.expected()
        == "to generate: 6 likelihoods, about 1,000 prompt tokens; time unknown because no similar job has run yet"
    )
    progress.start()
    rows = []
    for prompt, seconds, tokens in (("a", 8, 800), ("b", 1, 100), ("c", 1, None)):
        now[0] += seconds
        for place, continuation in enumerate("xy"):
            row = {"prompt_id": prompt, "continuation": continuation, "tokens": 1, "logprob": -1.0}
            rows.append({**row, "prompt_tokens": 0 if place else tokens})
            progress.add(rows[-1])
        if prompt == "a":
            assert progress._text() == "2 of 6 likelihoods, 800 of about 1,000 tokens, 0:00:02 left"
    assert progress._text() == "6 of 6 likelihoods, 1,233 of about 1,233 tokens, 0:00:00 left", "unknown: the mean"
    store.append(rows, {"prompt_tokens": "1000", "seconds": "10.0", "device": "cpu"})
    said = PromptProgress(3, 500, 3, store).expected()
    expected = "about 0:00:05 from the engine's start, by earlier jobs on cpu"
    assert said == f"to generate: 3 likelihoods, about 500 prompt tokens; {expected}"


def test_the_log_has_a_line_early_and_then_rarely(now: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, module.__name__)
    progress = TokenProgress(1000, 150000, 150000, None, 60, None, "")
    progress.start()
    for second in range(3600):
        now[0] += 1
        progress.begun(40.0 * second, 0.0)
    assert 30 < len(caplog.messages) < 70 and all(map(TOLD.fullmatch, caplog.messages))
    assert caplog.messages[0].startswith("0 of 1,000 answers, 360 of about ")


@pytest.mark.parametrize(
    ("usual", "speed", "expected"),
    [
        (None, None, "at most 16,860 answer tokens; time unknown because no similar job has run yet"),
        ((55.0, 0.2), Speed(0.001, 0.004), "about 15,455 answer tokens; about 0:01:33 from the engine's start, by x"),
    ],
)
def test_what_is_expected(usual: tuple[float, float] | None, speed: Speed | None, expected: str) -> None:
    said = TokenProgress(281, 42000, 31000, usual, 60, speed, "x").expected()
    assert (
        said
        == f"to generate: 281 answers, about 42,000 prompt tokens, 31,000 of them not in the prefix cache, {expected}"
    )
