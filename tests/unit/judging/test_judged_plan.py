"""Judged answers in the plan: as many questions as the job asks of answers that are made, and of those to come."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.io.keyed_files import KeyedFiles
from ragrelay.judging.check_job import check_judge
from ragrelay.likelihoods.store import likelihood_fingerprint
from ragrelay.planning.generator_plan import GeneratorPlan
from ragrelay.planning.judged_answers import judge_checks_work, judged_answers_work
from ragrelay.planning.work import Job
from ragrelay.prompting.templates import Template

from tests.unit.annotations.test_judge_labels import MODEL
from tests.unit.judging.test_judged_answers import Judged, scorer_of

pytestmark = pytest.mark.engine

PATTERNS = {
    "queries": "<results>/{dataset}/queries/one.parquet",
    "references": "<results>/{dataset}/references/one.parquet",
    "contexts": "<results>/{dataset}/contexts/{retriever}.parquet",
}
PROMPTS = "<results>/{dataset}/prompts/{template}/{retriever}/{ordering}/k{k}.parquet"


def planned_job(
    tmp_path: Path, generator: dict[str, Any], made: bool, **keys: Any
) -> tuple[Judged, GeneratorPlan, Job]:
    """The job that judges the answers of one retriever, which are ``made`` or to come."""
    judged, scorer = Judged(tmp_path), scorer_of(kind="llm_judge", **keys)
    asked = pl.DataFrame({"qid": ["1", "2"], "docnos": [["x"], ["y"]], "prompt_id": ["a", "b"]})
    without = {"qid": ["1", "2"], "docnos": [[], []], "prompt_id": ["c", "d"]}
    prompts = {"one/descending/k1": asked, "zeroshot/none/k0": pl.DataFrame(without, schema=asked.schema)}
    paths = [tmp_path / f"d/prompts/t/{name}.parquet" for name in prompts]
    for path, frame in zip(paths, prompts.values(), strict=True):
        path.parent.mkdir(parents=True)
        frame.write_parquet(path)
    files = {"prompts": KeyedFiles(PROMPTS, tuple(paths)), "own": KeyedFiles("<results>/{dataset}/{scorer}", ())}
    for name, pattern in PATTERNS.items():
        target = tmp_path / f"d/{name}/one.parquet"
        target.parent.mkdir(parents=True)
        target.write_bytes((tmp_path / name).read_bytes())
        files[name] = KeyedFiles(pattern, (target,))
    definition = {**generator, "model": MODEL, "max_model_len": 512, "max_tokens": 4}
    planned = GeneratorPlan(definition, "fp", Template(), tmp_path / "cache", 1)
    if made:
        told = {"finish_reason": "stop", "prompt_tokens": 1, "cached_tokens": 0, "answer_tokens": 1, "logprob": 0.0,
                "dropped_passages": 0}  # fmt: skip
        texts = [pl.read_parquet(tmp_path / name) for name in ("answers", "zeroshot")]
        keys_of = pl.concat(texts).select("prompt_id", "seed", "answer").to_dicts()
        planned.store.append([{**told, **key} for key in keys_of], {})
    by = judged.by(scorer, {"all": 2, "best": 3})
    said = {"name": "judged", "scorer": {"kind": "llm_judge", **scorer.model_dump()}, "template": asdict(by.template),
            "grades": {"all": 2, "best": 3}, "near_copy": None, "answers_of": "lm", "prompts": "t",
            "passages": "contexts"}  # fmt: skip
    return judged, planned, Job("judge_answers", "d", "lm", "one", files=files, judged=said)


@pytest.mark.parametrize("made", [True, False])
def test_as_many_questions_as_the_job_asks(tmp_path: Path, generator: dict[str, Any], made: bool) -> None:
    judged, planned, job = planned_job(tmp_path, generator, made)
    work = judged_answers_work(job, {"lm": planned}, [1])
    assert work["requests"].sum() == 4 and work["prompt_id"].n_unique() == 4
    assert work["certain"].unique().to_list() == [made] and not work["cached"].any()
    if made:
        _, receipt, _ = judged.run(scorer_of(kind="llm_judge"), {**generator, "max_tokens": 4})
        assert (len(work), work["prompt_tokens"].sum()) == (receipt["made"], receipt["prompt_tokens"])


@pytest.mark.parametrize("made", [True, False])
def test_as_many_changed_questions_as_the_checks_ask(tmp_path: Path, generator: dict[str, Any], made: bool) -> None:
    """Of the one answer that has references: they reversed, the parts swapped, the answer padded."""
    judged, planned, job = planned_job(tmp_path, generator, made, bias_checks=5)
    job = replace(job, rule="check_judge", retriever="", judged={**job.judged, "retrievers": ["one"]})
    work = judge_checks_work(job, {"lm": planned}, [1])
    assert work["requests"].sum() == work["prompt_id"].n_unique() == 3
    assert work["certain"].unique().to_list() == [made] and not work["cached"].any()
    if made:
        cells = {"answers": "{retriever}/{ordering}/k{k}/seed{seed}", "prompts": "{retriever}/{ordering}/k{k}"}
        given = []
        for name, pattern in cells.items():
            target = tmp_path / name.upper() / pattern.format(retriever="one", ordering="descending", k=1, seed=1)
            target.parent.mkdir(parents=True)
            target.write_bytes((tmp_path / name).read_bytes())
            given.append(KeyedFiles(f"{tmp_path}/{name.upper()}/{pattern}", (target,)))
        by = judged.by(scorer_of(kind="llm_judge"), {"all": 2, "best": 3})
        definition = {**planned.generator, "max_tokens": 4}
        told = {"fingerprint": likelihood_fingerprint(definition), "cache_dir": tmp_path, "threads": 1}
        _, receipt = check_judge(*given, {"one": tmp_path / "contexts"}, by, 5, generator=definition, **told)
        assert (len(work), work["prompt_tokens"].sum()) == (receipt["made"], receipt["prompt_tokens"])
