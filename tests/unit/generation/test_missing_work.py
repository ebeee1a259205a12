"""Counts of missing keys: those that the job itself would make, found without an engine."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.vocabulary.study_file import StudyFile, count_file
from ragrelay.generation.job import generate_answers
from ragrelay.generation.missing_work import checked_engine, count_missing, no_engine

from tests.unit.generation.test_generation_job import FakeEngine, Job


@pytest.fixture
def small(tmp_path: Path, generator: dict[str, Any]) -> Job:
    return Job(tmp_path, generator)


def count(job: Job, **generator: Any) -> dict[str, int]:
    asked, store = job.asked(), job.store()
    make = partial(generate_answers, asked, store, {**job.generator, **generator}, job.layout, no_engine)
    return count_missing(make, lambda: len(asked) - len(store.held(asked)))


def test_a_count_is_what_the_job_then_makes(small: Job) -> None:
    assert count(small) == {"missing": 16}
    assert small.run(FakeEngine(), small.asked(ks=(1,)))["made"] == 8
    assert count(small) == {"missing": small.run(FakeEngine())["made"]} == {"missing": 8}
    assert count(small) == {"missing": 0}


def test_prompts_over_the_window_need_no_engine(small: Job) -> None:
    """The job itself ends with their error."""
    assert count(small, max_model_len=1) == {"missing": 0}
    with pytest.raises(RequestError):
        small.run(FakeEngine(), max_model_len=1)


@pytest.mark.parametrize(("counted", "gpus", "refused"), [(0, 0, True), (0, 1, False), (4, 0, False)])
def test_keys_that_vanished_after_the_count_end_the_job(
    small: Job, tmp_path: Path, counted: int, gpus: int, refused: bool
) -> None:
    """With a GPU, as of an attempt after the first, it makes them; so it does where a profile gives no GPU by name."""
    path = tmp_path / "count.json"
    path.write_text(json.dumps({"missing": counted}))
    engine = FakeEngine()
    run = partial(generate_answers, small.asked(), small.store(), small.generator, small.layout)
    start: Any = checked_engine(engine.start, [str(path)], gpus)
    if refused:
        with pytest.raises(
            InputError, match=r"count.json: found missing results, although none were missing when they were counted"
        ):
            run(start)
        assert not engine.starts
    else:
        assert run(start)["made"] == 16


def test_a_count_has_a_folder_that_no_dataset_can_have() -> None:
    assert count_file(StudyFile("{dataset}/g/{generator}.json", "", "")).path == ".missing/{dataset}/g/{generator}.json"
