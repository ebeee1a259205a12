"""Show a study's provenance on the page: jobs, resources, versions, configuration and left-out data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from ragrelay.base.io.coverage import of_total
from ragrelay.base.vocabulary.columns import integer, text
from ragrelay.generation.generator import SERVED, SYSTEM
from ragrelay.generation.store import known_sum
from ragrelay.report.display import tables
from ragrelay.report.display.numbers import count, counted, number
from ragrelay.report.display.tables import Column, Table
from ragrelay.report.study import ReportedStudy

LEFT_OUT = {
    "stage": text("stage that counted the items: collection, runs, contexts, answers, generation, nuggets, scoring or "
    "annotation"), "dataset": text("name of the dataset in the configuration"),
    "what": text("description of the items that were left out, skipped or cut"),
    "count": integer("number of items that were left out, skipped or cut"),
    "detail": text("the items themselves, if they are recorded, as plain text or JSON"),
}  # fmt: skip  # fmt: skip
MIXED = {
    "engines": "engines or devices", "model_runner": "vLLM model runners", "attention_backend": "attention backends",
    "batch_invariant": "batch-invariance settings", SERVED: "models named in an endpoint's replies",
    SYSTEM: "endpoint systems (system_fingerprint)",
}  # fmt: skip
KNOWN = ("config", "versions", "generators", "jobs", "stages")
TOTALS = {"asked": "answers requested", "cached": "answers already cached", "made": "answers generated",
          "prompt_tokens": "prompt tokens", "cached_tokens": "cached prompt tokens", "answer_tokens": "answer tokens",
          "seconds": "seconds"}  # fmt: skip
JOB = ("dataset", "generator", "shard")
Records = Sequence[Mapping[str, Any]]


def origin(study: ReportedStudy) -> dict[str, Any]:
    """Return the values for the page's provenance part, read from provenance.json and left_out.json."""
    provenance = study.provenance
    jobs = provenance.get("jobs") or []
    shown = shown_jobs(jobs)
    sums = {name: known_sum(job.get(name, 0) for job in shown) for name in TOTALS if any(name in job for job in shown)}
    generators = [{"generator": name} | dict(about) for name, about in (provenance.get("generators") or {}).items()]
    config = provenance.get("config")
    records = [_of_total(record) for record in study.left_out if record.get("count")]
    return {
        "facts": [
            (name, _written(value)) for name, value in provenance.items() if name not in KNOWN and value is not None
        ],
        "mixed": mixed_engines(jobs),
        "generators": tables.filled(tables.records_table("Generators", generators)),
        "stages": tables.filled(stage_table(provenance.get("stages") or [], _hours(generators))),
        "jobs": tables.filled(tables.records_table("Generation, per job", shown, JOB)),
        "totals": [
            (TOTALS[name], number(value, 1) if isinstance(value, float) else count(value))
            for name, value in sums.items()
        ],
        "versions": tables.records_table(
            "Versions", [{"package": name, "version": str(v)} for name, v in (provenance.get("versions") or {}).items()]
        ),
        "config": yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100) if config else "",
        "left_out": tables.records_table("What was left out, by stage", records, tuple(LEFT_OUT)),
        "nothing_found": sorted({str(record["what"]) for record in study.left_out}
                                - {str(record["what"]) for record in records}),
    }  # fmt: skip


def _of_total(record: Mapping[str, Any]) -> dict[str, object]:
    """Write a record's count with the total from its detail, if there is one."""
    detail = record.get("detail")
    if not isinstance(detail, Mapping) or "total" not in detail:
        return dict(record)
    rest = {name: value for name, value in detail.items() if name != "total"}
    return {**record, "count": of_total(record["count"], detail), "detail": rest or None}


def _written(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True) if isinstance(value, Mapping) else str(value)


def _hours(generators: Records) -> str:
    """Return what to call the hours of jobs with an engine; on a CPU, they are machine-hours.

    A device is known if the study's last run generated answers.
    """
    devices = {one.get("device") for one in generators} or {None}
    return "GPU- or machine-hours" if None in devices else "machine-hours" if devices == {"cpu"} else "GPU-hours"


def shown_jobs(jobs: Records) -> list[dict[str, Any]]:
    """Return the generation receipts for the page. The key ``held``, written by version 0.1.0, becomes ``cached``."""
    return [
        {"cached" if name == "held" else name: value for name, value in job.items() if name != "over_window"}
        for job in jobs
    ]


def mixed_engines(jobs: Records) -> str:
    """State which generators' answers come from more than one engine, device or setting, if any.

    A setting is compared only for answers that were generated since ragrelay began to record the setting.
    """
    answers_by: dict[str, dict[str, Counter[str]]] = {}
    for job in jobs:
        for what, values in {"engines": job.get("engines"), **(job.get("settings") or {})}.items():
            of_generator = answers_by.setdefault(MIXED[what], {}).setdefault(str(job.get("generator")), Counter())
            of_generator.update(values or {})
    sentences, noun = [], "answer"
    for what, generators in answers_by.items():
        parts = [
            f"{name} ({'; '.join(f'{value}: {counted(n, noun)}' for value, n in values.items())})"
            for name, values in generators.items()
            if len(values) > 1
        ]
        sentences += [f"One generator’s answers come from several {what}: {', '.join(parts)}."] if parts else []
    return " ".join(sentences)


def stage_table(stages: Records, hours: str) -> Table:
    """Build the table of used, requested and planned resources by stage. ``stages``: records from provenance.json."""
    rows = [
        [str(stage["stage"]), count(stage["jobs"]), number(stage["seconds"], 1), number(stage["longest"], 1),
         count(stage.get("requested_minutes")), number(stage.get("cpu_seconds"), 1), count(stage.get("memory_mib")),
         count(stage.get("requested_mb")), number(stage.get("gpu_hours"), 2),
         number(stage.get("planned_gpu_hours"), 2), count(stage.get("prompt_tokens")),
         count(stage.get("cached_tokens")), count(stage.get("answer_tokens"))]
        for stage in stages
    ]  # fmt: skip
    columns = [Column("stage"), Column("jobs", True), Column("seconds", True), Column("longest job, s", True),
               Column("requested, min", True), Column("CPU seconds", True), Column("peak memory, MiB", True),
               Column("requested, MB", True), Column(hours, True), Column(f"planned {hours}", True),
               Column("prompt tokens", True), Column("cached prompt tokens", True),
               Column("answer tokens", True)]  # fmt: skip
    return Table(columns, rows, title="Time, memory and tokens per stage, from each job’s last run")
