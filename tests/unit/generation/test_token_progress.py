"""Tokens and time of a generation job: what it expects before the engine starts, and what it tells of its progress."""

import logging
import math
from types import SimpleNamespace

import pytest
from ragrelay.generation import token_progress as module
from ragrelay.generation.past_jobs import Speed
from ragrelay.generation.status import TOLD
from ragrelay.generation.token_progress import TokenProgress


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


def test_counts_that_an_endpoint_does_not_tell(now: list[float]) -> None:
    """The estimates stand for them."""
    progress = TokenProgress(4, 400, 400, None, 30, None, "")
    progress.start()
    now[0] += 10
    progress.add({"prompt_tokens": None, "cached_tokens": None, "answer_tokens": None, "finish_reason": "length"})
    assert progress._text() == "1 of 4 answers, 130 of about 520 tokens, 0:00:30 left"


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
        (None, None, "at most 16,860 answer tokens; time unknown without earlier jobs"),
        ((55.0, 0.2), Speed(0.001, 0.004), "about 15,455 answer tokens; about 0:01:33 from the engine's start, by x"),
    ],
)
def test_what_is_expected(usual: tuple[float, float] | None, speed: Speed | None, expected: str) -> None:
    said = TokenProgress(281, 42000, 31000, usual, 60, speed, "x").expected()
    assert (
        said == f"to make: 281 answers, about 42,000 prompt tokens, 31,000 of them not in the prefix cache, {expected}"
    )
