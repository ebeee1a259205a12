"""Prompt lengths and shared prefixes before an engine starts."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.requests import asked_keys, block_tokens, prompt_lengths, requests_of, shared_prefix

from tests.unit.generation.test_generation_job import Job


def test_shared_prefix_in_whole_blocks() -> None:
    assert shared_prefix((1, 2, 3, 4, 5), (1, 2, 3, 4, 9), 2) == 4
    assert shared_prefix((1, 2, 3), (1, 2, 3), 2) == 2
    assert shared_prefix((1, 2), (1, 9), 2) == shared_prefix((), (1,), 1) == 0


def test_blocks_follow_the_key_and_the_device() -> None:
    assert (block_tokens({}, None), block_tokens({}, "cpu"), block_tokens({"block_size": 64}, "cpu")) == (16, 32, 64)


@pytest.mark.parametrize("threads", [1, 3])
def test_lengths_are_the_engines(tmp_path: Path, generator: dict[str, Any], threads: int) -> None:
    """Each byte is a token, after a BOS, so lengths and prefixes follow from the texts."""
    job = Job(tmp_path, generator)
    asked = asked_keys({"bm25": [tmp_path / "k1.parquet", tmp_path / "k2.parquet"]}, [1, 2])
    found = prompt_lengths(asked, generator, 512, job.layout, 4, threads)
    requests = list(requests_of(asked, generator, 512, job.layout))
    distinct = {request.prompt_id: len(request.token_ids) for request in requests}
    assert dict(found.select("prompt_id", "prompt_tokens").iter_rows()) == distinct and len(found) == 8
    assert found["shared_again"].to_list() == [(tokens - 1) // 4 * 4 for tokens in distinct.values()]
    # k = 2 begins as k = 1 does: BOS and "passage 1 of a " (16 tokens), then the question against the next passage.
    assert found["shared_first"].to_list()[1::2] == [16] * 4 or threads > 1
    cold = prompt_lengths(asked, {**generator, "prefix_caching": False}, 512, job.layout, 4, threads)
    assert cold["shared_first"].sum() == cold["shared_again"].sum() == 0


def test_a_prompt_that_does_not_fit_is_told(tmp_path: Path, generator: dict[str, Any]) -> None:
    job = Job(tmp_path, generator)
    with pytest.raises(InputError, match="over_window: truncate"):
        prompt_lengths(job.asked(), generator, 45, job.layout, 16, 2)
    cut = prompt_lengths(job.asked(), {**generator, "over_window": "truncate"}, 45, job.layout, 16, 2)
    assert cut["prompt_tokens"].max() <= 45 - 16


def test_nothing_missing(tmp_path: Path, generator: dict[str, Any]) -> None:
    job = Job(tmp_path, generator)
    empty = prompt_lengths(job.asked().clear(), generator, 512, job.layout, 16, 2)
    assert empty.is_empty() and empty.schema["prompt_tokens"] == pl.Int64
