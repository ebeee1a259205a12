"""Whether a converted model reads: decided by two perplexities, once per conversion.

Real models, right and wrong ones, are read in tests/e2e/test_real_model.py.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.models.gguf_conversion import KEY
from ragrelay.generation import reading_check
from ragrelay.generation.reading_check import PAGE, READ, check_reading, perplexity


class Tokenizer:
    """A token per word; each text begins with a BOS."""

    def __call__(self, text: str, add_special_tokens: bool = True, **how: Any) -> dict[str, list[int]]:
        return {"input_ids": [0] * add_special_tokens + [len(word) for word in text.split()]}


class Engine:
    """Stands in for an engine whose tokens have these perplexities in the first and the second copy."""

    def __init__(self, first: float, second: float) -> None:
        self.perplexities, self.asked = (first, second), list[list[int]]()

    def finished(self, asked: Iterator[Any]) -> Iterator[tuple[None, Any]]:
        for _, ids, _ in asked:
            self.asked.append(ids)
            half = (len(ids) - 1) // 2
            values = [-math.log(self.perplexities[place > half]) for place in range(len(ids))]
            logprobs = [{token: SimpleNamespace(logprob=value)} for token, value in zip(ids, values, strict=True)]
            yield None, SimpleNamespace(prompt_logprobs=[None, *logprobs[1:]])


@pytest.fixture
def generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A definition with a conversion in ``tmp_path``."""
    monkeypatch.setattr(reading_check, "load_tokenizer", lambda generator: Tokenizer())
    return {"model": "lm.gguf", KEY: {"path": str(tmp_path)}}


def test_a_model_that_reads_is_asked_once(generator: dict[str, Any], tmp_path: Path) -> None:
    """The page is read twice in one text, after the BOS."""
    engine = Engine(20.0, 1.1)
    for _ in range(2):
        check_reading(generator, 2048, engine.finished)
    (ids,) = engine.asked
    words = [len(word) for word in PAGE.split()]
    assert ids == [0, *words, *words]
    assert (tmp_path / READ).is_file()


@pytest.mark.parametrize(("first", "second"), [(12_000, 1.9), (99, 133), (1e9, 1e9), (20, 10.5), (1000.5, 1)])
def test_a_model_that_does_not(generator: dict[str, Any], tmp_path: Path, first: float, second: float) -> None:
    """Either copy may tell; nothing says afterwards that the model reads."""
    with pytest.raises(InputError, match=r"^generator model 'lm\.gguf': found perplexities of .* a faulty conversion"):
        check_reading(generator, 2048, Engine(first, second).finished)
    assert not (tmp_path / READ).exists()


def test_a_small_window(generator: dict[str, Any], tmp_path: Path) -> None:
    """What fits twice is read; of less than 64 tokens nothing is said."""
    engine = Engine(20.0, 1.1)
    check_reading(generator, 100, engine.finished)
    assert not engine.asked and not (tmp_path / READ).exists()
    check_reading(generator, 200, engine.finished)
    assert len(engine.asked[0]) == 199


def test_perplexities() -> None:
    """The exponential of the mean; infinite where a log-probability is no number."""
    assert perplexity([-1.0, -3.0]) == pytest.approx(math.e**2)
    assert perplexity([-1.0, math.nan]) == perplexity([-math.inf]) == math.inf
