"""New content reruns the jobs that read it, whatever its time; for every file of the user's, by dry runs.

The files are those of the loaded graph that no job makes; the kinds of files are the configuration's keys.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.io.file_versions import SMALL
from ragrelay.config.schema import load_schema

from tests.support.annex_cases import add_of_annexes, entries_of_annexes, of_annexes
from tests.support.graphs import Job, following_any, graph, told_apart
from tests.support.optional_study import TARGETS, add_optional_parts
from tests.support.sandbox import Sandbox

LONG_AGO = 1_000_000_000
FILES = {
    "datasets.*.local.path": ["small/passages.jsonl", "small/queries.tsv", "small/qrels.txt", "small/answers.jsonl"],
    "datasets.*.ir_datasets.clusters": ["turns.tsv"],
    "datasets.*.local.clusters": ["turns.tsv"],
    "retrievers.*.run.path": ["mine.run"],
    "retrievers.*.answers.path": ["told.jsonl"],
    **{f"retrievers.*.{kind}.passages": ["poison.jsonl"] for kind in ("run", "graded", "oracle", "position")},
    "generators.*.path": ["theirs.jsonl"],
    "generators.*.baseline": ["zeroshot.jsonl"],
    "generators.*.single_passages": [],  # which annexes read
    "scorers.*.nuggets.path": ["nuggets.jsonl"],
    "scorers.*.file.path": ["scores.csv"],
    **entries_of_annexes("FILE_KEYS"),
}
"""By key of the configuration that takes a text without a pattern, the files of the study that it names."""
NO_FILES = {
    "cache_dir", "results", "logs", "benchmarks", "id", "revision", "reference_retriever", "retriever", "reference",
    "stage_models", "ordering", "references", "measure", "scorer", "answers", "query_prefix", "passage_prefix",
    "prefix", "notice", "base_url", "quantization", "attention_backend", "adapter_revision", "*",
    "model", "tokenizer", "adapter", "max_tokens_name", *chain(*of_annexes("NO_FILE_KEYS")),
}  # fmt: skip
"""Last steps of other such keys; the folders of models are hashed into params."""


def text_keys(node: Mapping[str, Any], steps: tuple[str, ...] = ()) -> Iterator[str]:
    """The keys of a JSON Schema whose values are texts of any form."""
    types = node.get("type", ())
    if "string" in ([types] if isinstance(types, str) else types) and not {"enum", "const", "pattern"} & set(node):
        yield ".".join(steps)
    for kind in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        yield from text_keys(kind, (*steps, kind["title"]) if "title" in kind else steps)
    for key, value in node.get("properties", {}).items():
        yield from text_keys(value, (*steps, key))
    for inside in ("items", "additionalProperties"):
        if isinstance(node.get(inside), dict):
            yield from text_keys(node[inside], (*steps, "*"))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A study with every optional part and a file of every kind, whose jobs seem to have run."""
    study = Sandbox(tmp_path_factory.mktemp("contents") / "study")
    add_optional_parts(study)
    for name in ("told", "theirs", "alone", "zeroshot"):
        # The last one is large.
        (study.folder / f"{name}.jsonl").write_text("{}\n" * (SMALL if name == "zeroshot" else 2), encoding="utf-8")
    nuggets = {"qid": "q01", "nuggets": [{"text": "a fact", "importance": "vital"}]}
    (study.folder / "nuggets.jsonl").write_text(json.dumps(nuggets) + "\n", encoding="utf-8")
    judged = [line.split() for line in (study.collection / "qrels.txt").read_text(encoding="utf-8").splitlines()]
    run = [f"{qid} Q0 {docno} 1 1.0 x\n" for qid, _, docno, _ in judged]
    (study.folder / "mine.run").write_text("".join(run), encoding="utf-8")
    (study.folder / "poison.jsonl").write_text('{"doc_id": "p", "text": "poison"}\n', encoding="utf-8")
    scores = "".join(f"{qid},bm25,demo-lm,5,1,0.5\n" for qid in dict.fromkeys(qid for qid, *_ in judged))
    (study.folder / "scores.csv").write_text(f"qid,retriever,generator,k,seed,value\n{scores}", encoding="utf-8")
    (study.folder / "turns.tsv").write_text("".join(f"{qid}\ttalk\n" for qid, *_ in judged), encoding="utf-8")
    config = study.config
    config["datasets"]["small"]["clusters"] = "turns.tsv"
    config["context_use"] = False  # which answers from files can't have
    grid = {"generators": ["demo-lm"], **config["grid"]}
    poisoned = {"min_label": 2, "filler": "file", "passages": "poison.jsonl"}
    added = {
        "retrievers": {
            "mine": {"kind": "run", "path": "mine.run", "passages": "poison.jsonl"},
            "told": {"kind": "answers", "path": "told.jsonl"},
            "dose": {"kind": "graded", "relevant": 1, **poisoned},
            "good": {"kind": "oracle", **poisoned},
            "second": {"kind": "position", "place": 1, **poisoned},
        },
        "generators": {
            "theirs": {
                "engine": "file",
                "path": "theirs.jsonl",
                "baseline": "zeroshot.jsonl",
                "single_passages": "alone.jsonl",
            }
        },
        "scorers": {
            "facts": {"kind": "nuggets", "generator": "demo-lm", "path": "nuggets.jsonl"},
            "said": {"kind": "file", "path": "scores.csv"},
        },
    }
    for section, entries in added.items():
        config[section] = {**config.get(section, {}), **entries}
        grid[section] = [*grid[section], *entries]
    config["grid"] = grid
    add_of_annexes(study, "of files")
    study.write_config()
    study.seem_run(*TARGETS)
    return study


@pytest.fixture(scope="module")
def jobs(study: Sandbox) -> dict[str, Job]:
    return graph(study, TARGETS)


def readers(jobs: Mapping[str, Job], path: str) -> set[str]:
    return {name for name, job in jobs.items() if path in job.brought}


@contextmanager
def other_content(path: Path, time: int) -> Iterator[None]:
    """``path`` with other content that means the same, made at ``time``, as `cp -p`, rsync and tar leave it."""
    before, stat = path.read_bytes(), path.stat()
    if path.suffix == ".parquet":
        pl.read_parquet(path).write_parquet(path, compression="uncompressed")
    else:
        path.write_bytes(before.replace(b"\n", b"\r\n"))
    assert path.read_bytes() != before
    os.utime(path, (time, time))
    try:
        yield
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_every_key_that_may_name_a_file_does_so_in_the_study(jobs: dict[str, Job]) -> None:
    keys = set(text_keys({"properties": load_schema()["properties"]}))
    assert {key for key in keys if key.rpartition(".")[2] not in NO_FILES} == set(FILES)
    read = {path for job in jobs.values() for path in job.brought if not path.startswith(("workflow/", "resources/"))}
    assert read == {path for paths in FILES.values() for path in paths}


def test_new_content_of_an_older_time_reruns_what_reads_it(study: Sandbox, jobs: dict[str, Job]) -> None:
    """Files whose readers do not follow from each other's change in one dry run."""
    first = {path: readers(jobs, path) for paths in FILES.values() for path in paths}
    always = {f"{target} {{}}" for target in TARGETS}
    for group in told_apart(jobs, first):
        expected = following_any(jobs, set().union(*(first[path] for path in group)))
        assert all(first[path] for path in group)
        with ExitStack() as changed:
            for path in group:
                changed.enter_context(other_content(study.folder / path, LONG_AGO))
            planned = {name for name, job in graph(study, TARGETS).items() if job.runs}
        assert planned - always == expected - always, group


def test_files_larger_than_what_snakemake_hashes(study: Sandbox, jobs: dict[str, Job]) -> None:
    (reader,) = readers(jobs, "nuggets.jsonl")
    target, path = jobs[reader].output[0], study.folder / "nuggets.jsonl"
    options = (target, "--max-checksum-file-size", "1")
    study.snakemake("--touch", *options, "--forcerun", "read_nuggets")
    assert study.planned(*options) == {}
    os.utime(path)
    assert study.planned(*options) == {}, "another time alone"
    with other_content(path, LONG_AGO):
        assert study.planned(*options) == {"read_nuggets": 1}
