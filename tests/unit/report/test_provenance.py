"""Provenance: config, versions, commit, fingerprints and jobs; and everything left out, counted."""

import json
import subprocess
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.origin import mixed_engines, origin, shown_jobs
from ragrelay.report.page import render_page
from ragrelay.report.provenance import REQUESTED, gather_left_out, gather_provenance, gather_stages
from ragrelay.report.reading import read_study
from ragrelay.report.used import Benchmarks

from tests.support.report_study import write_study

CONFIG = {"study": "s", "generators": {"lm": {"model": "a/b", "revision": "v2"}, "other": {"model": "c/d"}}}
MADE = {
    "asked": 10, "cached": 4, "made": 6, "dropped_passages": 3, "engine": "vllm", "version": "1.2", "device": "cpu",
    "window": 512, "engines": {"vllm 1.2 on cpu": 10},
}  # fmt: skip
RUNNERS = {"model_runner": {"V1": 2, "V2": 1}}
HELD = {
    "asked": 5, "cached": 5, "made": 0, "engines": {"vllm 1.1 on cpu": 2, "vllm 1.2 on cpu": 3},
    "settings": {**RUNNERS, "attention_backend": {"FLASH_ATTN": 3}},
}  # fmt: skip
KEYS = [
    {"dataset": "d", "generator": "lm", "shard": "0"},
    {"dataset": "d", "generator": "lm", "shard": "1"},
]


RECEIPT = "<results>/{dataset}/generated/{generator}/shard{shard}.json"
LENGTHS = "<results>/{dataset}/described/answers/{generator}/lengths.csv"


@pytest.fixture
def receipts(tmp_path: Path) -> KeyedFiles:
    paths = [tmp_path / f"d/generated/lm/shard{shard}.json" for shard in range(2)]
    paths[0].parent.mkdir(parents=True)
    for path, receipt in zip(paths, (HELD, MADE), strict=True):
        path.write_text(json.dumps(receipt))
    return KeyedFiles(RECEIPT, tuple(paths))


def test_provenance(receipts: KeyedFiles, tmp_path: Path) -> None:
    found = gather_provenance(CONFIG, {"lm": "f1", "other": "f2"}, receipts, Benchmarks("none"), str(tmp_path))
    assert found["config"] == CONFIG
    assert found["jobs"] == [{**KEYS[0], **HELD}, {**KEYS[1], **MADE}]
    assert found["generators"]["lm"] == {
        "fingerprint": "f1", "model": "a/b", "revision": "v2",
        "engine": "vllm", "version": "1.2", "device": "cpu", "window": 512,
    }  # fmt: skip
    unused = {"fingerprint": "f2", "model": "c/d", "revision": None}
    assert found["generators"]["other"] == {**unused, "engine": None, "version": None, "device": None, "window": None}
    assert found["versions"]["polars"] == metadata.version("polars")
    assert "vllm-cuda-nowhere" not in found["versions"] and all(found["versions"].values())
    json.dumps(found)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_commit(receipts: KeyedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    def commit() -> Any:
        return gather_provenance(CONFIG, {}, receipts, Benchmarks("none"), str(tmp_path))["commit"]

    assert commit() is None, "outside a repository"
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-q", "-m", "first")
    git(tmp_path, "tag", "-a", "v1", "-m", "a tag must not stand in for the hash")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert commit() == head[:12]
    (tmp_path / "file").write_text("two")
    assert commit() == head[:12] + "+changes"


def test_seconds_and_tokens_per_stage(tmp_path: Path) -> None:
    """Snakemake's benchmark files, of which a short job's has no measured memory."""
    header = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
    for name, row in {
        "generate_answers/d/lm/bm25/shard0.tsv": "30.5\t0:00:30\t2100.4\t1\t1\t1\t1\t1\t90\t28.0",
        "generate_answers/d/lm/rel/shard0.tsv": "10.0\t0:00:10\t1999.0\t1\t1\t1\t1\t1\t90\t9.5",
        "index_corpus/d/pisa.tsv": "0.4\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(header + row + "\n")
    tokens = {"prompt_tokens": 100, "cached_tokens": 40, "answer_tokens": 7}
    requested = {"generate_answers": {"runtime": 480, "mem_mb": 32000}}
    benchmarks = Benchmarks(str(tmp_path), asked=requested, gpus={"generate_answers/d/lm": 360})
    nothing = dict.fromkeys(REQUESTED)
    assert gather_stages(benchmarks, [tokens, tokens, {"cached": 3}]) == [
        {"stage": "generate_answers", "jobs": 2, "seconds": 40.5, "longest": 30.5, "cpu_seconds": 37.5,
         "memory_mib": 2100, **nothing, "gpu_hours": 4.05, "requested_minutes": 480, "requested_mb": 32000,
         "prompt_tokens": 200, "cached_tokens": 80, "answer_tokens": 14},
        {"stage": "index_corpus", "jobs": 1, "seconds": 0.4, "longest": 0.4, "cpu_seconds": None, "memory_mib": None,
         **nothing},
    ]  # fmt: skip
    uncounted = gather_stages(benchmarks, [tokens, tokens | {"prompt_tokens": None}])[0]
    assert (uncounted["prompt_tokens"], uncounted["answer_tokens"]) == (None, 14)
    assert gather_stages(Benchmarks(str(tmp_path / "nowhere")), []) == []


def lengths_file(folder: Path, dataset: str, generator: str, cut: list[int]) -> Path:
    """A row for each of ``cut``, numbers of 5 answers."""
    path = folder / dataset / "described" / "answers" / generator / "lengths.csv"
    path.parent.mkdir(parents=True)
    pl.DataFrame({"length": cut}).with_columns(n=5).write_csv(path)
    return path


@pytest.mark.parametrize("study", ["results/demo", "results/answers", "answers/answers"])
def test_left_out(receipts: KeyedFiles, tmp_path: Path, study: str) -> None:
    """The study's folder may have any name, ``answers`` included."""
    for path in (tmp_path / "d.json", tmp_path / "d/bm25.json"):
        path.write_text(json.dumps([{"what": "queries without judgements", "count": 2}]))
    lengths = (
        lengths_file(tmp_path / study, "d", "lm", [2, 0]),
        lengths_file(tmp_path / study, "d", "other", [1]),
        lengths_file(tmp_path / study, "other", "lm", [0]),
    )
    stages = [
        ("collection", KeyedFiles("<results>/{dataset}.json", (tmp_path / "d.json",))),
        ("contexts", KeyedFiles("<results>/{dataset}/{retriever}.json", (tmp_path / "d/bm25.json",))),
    ]
    found = gather_left_out(stages, receipts, KeyedFiles(LENGTHS, lengths))
    as_rows = [(row["stage"], row["dataset"], row["what"], row["count"], row.get("detail")) for row in found]
    of_held = {name: value for name, value in KEYS[0].items() if name != "dataset"}
    assert as_rows == [
        ("collection", "d", "queries without judgements", 2, None),
        ("contexts", "d", "queries without judgements", 2, {"retriever": "bm25"}),
        ("generation", "d", "answers from mixed engine versions", 5, {**of_held, **HELD["engines"]}),
        ("generation", "d", "answers from mixed settings of engines", 5, {**of_held, **RUNNERS}),
        ("generation", "d", "answers cut at max_tokens (kept and scored)", 3, {"total": 15}),
        ("generation", "other", "answers cut at max_tokens (kept and scored)", 0, {"total": 5}),
    ]


def test_mixtures_are_told_by_generator() -> None:
    """Over all of its jobs; two generators may differ, and jobs of before settings were written say nothing of them."""
    one = {"generator": "lm", "engines": {"vllm 1 on H100": 4}, "settings": {"model_runner": {"V1": 4}}}
    two = {"generator": "lm", "engines": {"vllm 1 on H100": 1000}, "settings": {"model_runner": {"V2": 1000}}}
    other = {**two, "generator": "other"}
    before = {"generator": "lm", "engines": {"vllm 1 on H100": 7}}
    assert mixed_engines([one, other, before]) == ""
    assert mixed_engines([one, two, before]) == (
        "One generator’s answers come from several vLLM model runners: lm (V1: 4 answers; V2: 1,000 answers)."
    )
    elsewhere = {**before, "engines": {"vllm 1 on A100": 7}}
    assert mixed_engines([one, other, elsewhere]) == (
        "One generator’s answers come from several engines or devices: "
        "lm (vllm 1 on H100: 4 answers; vllm 1 on A100: 7 answers)."
    )


@pytest.mark.parametrize("name", ["cached", "held"])
def test_cached_answers_are_shown_as_such(name: str) -> None:
    """Also those of a receipt of version 0.1.0, which called them held."""
    job = {"dataset": "d", "generator": "g", "shard": "0", "asked": 10, name: 2, "made": 8, "over_window": {}}
    [shown] = shown_jobs([job])
    assert (shown["cached"], shown["made"]) == (2, 8) and not {"held", "over_window"} & shown.keys()


@pytest.mark.page
def test_of_brought_answers_nothing_is_shown_or_said_of_engines(tmp_path: Path) -> None:
    study = read_study(**write_study(tmp_path, n=8))
    about = {"fingerprint": "1f2e", "model": "answers.jsonl", "engine": None, "device": None, "version": None}
    stages = [{"stage": "build_run", "jobs": 2, "seconds": 1.5, "longest": 1.0, "prompt_tokens": None}]
    brought = replace(study, provenance={"generators": {"theirs": about}, "stages": stages, "jobs": []})
    shown = origin(brought)
    assert [column.title for column in shown["generators"].columns] == ["generator", "fingerprint", "model"]
    assert [column.title for column in shown["stages"].columns] == ["stage", "jobs", "seconds", "longest job, s"]
    uncounted = replace(study, provenance={"jobs": [{"prompt_tokens": None, "made": 2}, {"made": 1}]})
    assert origin(uncounted)["totals"] == [("answers generated", "3"), ("prompt tokens", "–")]
    said = "Each generator’s answers all come from the same engine version"
    assert said in render_page(study) and said not in render_page(brought)
