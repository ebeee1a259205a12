"""An engine of generators is one file: dropped in, it is in the schema, reference and checks, and makes answers."""

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import with_texts

from tests.unit.config.test_config import check_error
from tests.unit.conftest import study_of
from tests.unit.generation.test_generation_job import Job
from tests.unit.kinds.conftest import Drop

ECHO = '''"""Prompts come back."""

from pydantic import Field

from ragrelay.generation.generator import DECODING, Generator


class Engine:
    name, version, device, settings = "echo", "1", "here", {}

    def __init__(self, definition):
        self.letters = definition["letters"]

    def answers(self, requests):
        for request in requests:
            yield {
                "prompt_id": request.prompt_id, "seed": request.seed, "answer": request.prompt[: self.letters],
                "finish_reason": "stop", "prompt_tokens": 1, "cached_tokens": 0, "answer_tokens": 1,
                "logprob": None, "dropped_passages": 0,
            }


class Echo(Generator):
    """says the prompt's first letters."""

    letters: int = Field(3, ge=1, description="How many.")

    @classmethod
    def start(cls, definition, window, threads):
        return Engine(definition)

    @classmethod
    def decisive(cls, definition, folder, cache_dir):
        return {"echo": definition["letters"]}
'''


@pytest.fixture
def echo(drop: Drop, config: dict[str, Any]) -> dict[str, Any]:
    """The small configuration with a generator of the new engine."""
    drop(GENERATOR_KINDS, "echo", ECHO)
    config["generators"]["lm"] = {"engine": "echo", "model": "none", "prompt": "tian2025", "letters": 5}
    return config


def test_definition_and_checks(echo: dict[str, Any], tmp_path: Path) -> None:
    definition = study_of(echo, tmp_path).generator("lm")
    assert definition["letters"] == 5 and definition["temperature"] == 0.3 and definition["dtype"] == "auto"
    assert fingerprint(definition) != fingerprint({**definition, "letters": 6})
    assert GENERATOR_KINDS.of(definition).gpus() == 0
    wrong: list[tuple[dict[str, Any], list[str]]] = [
        ({"letters": 0}, ["'generators.lm.letters'", "found 0", "at least 1"]),
        ({"dtype": "auto"}, ["'generators.lm.dtype'", "a key that has no effect", "engine: vllm"]),
        ({"engine": "ecko"}, ["'generators.lm.engine'", "one of echo, file, openai, vllm; did you mean 'echo'?"]),
        ({"engine": "vllm"}, ["'generators.lm.letters'", "a key that has no effect", "engine: echo"]),
    ]
    for keys, parts in wrong:
        check_error({**echo, "generators": {"lm": {**echo["generators"]["lm"], **keys}}}, tmp_path, parts)


def test_reference(echo: dict[str, Any], reference: str) -> None:
    assert "| `letters` | integer, ≥ 1 | `3` | How many. |" in reference
    assert "`echo` says the prompt's first letters; `file` reads" in reference


def test_answers(echo: dict[str, Any], tmp_path: Path) -> None:
    definition = study_of(echo, tmp_path).generator("lm")
    small = Job(tmp_path, definition)
    start = partial(GENERATOR_KINDS[definition["engine"]].start, threads=1)  # type: ignore[attr-defined]
    receipt = generate_answers(small.asked(), small.store(), definition, small.layout, start)
    assert receipt["made"] == 16 and receipt["engines"] == {"echo 1 on here": 16}
    asked = small.asked()
    answers = (
        small.store()
        .look_up(asked)
        .join(pl.concat(with_texts(asked)), on=["prompt_id", "seed"])
        .select("answer", "prompt")
    )
    assert len(answers) == 16
    assert answers.filter(pl.col("answer") != pl.col("prompt").str.slice(0, 5)).is_empty()
