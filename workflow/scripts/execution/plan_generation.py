"""Print and write as CSV how many requests the study will send to its engines, without starting one."""

from pathlib import Path

from ragrelay.base.display.terminal import say
from ragrelay.base.io.atomic_files import write_csv, write_json
from ragrelay.base.io.keyed_files import keyed_files, of_pattern
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.execution.plan.budget import budget_lines, plan_receipt
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.execution.plan.shards import AutoShards, plan_generation
from ragrelay.execution.plan.table import csv_table, printed_table, processing_note, size_note
from ragrelay.execution.plan.work import Job
from ragrelay.generation.engine_use import used_in_all
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    planned = {
        name: GeneratorPlan(
            definition,
            params.fingerprints[name],
            Template(**params.templates[name]),
            params.cache_dir,
            snakemake.threads,
        )
        for name, definition in params.generators.items()
    }
    files = keyed_files(params.patterns, snakemake.input)
    jobs = [Job(**{"files": files, **names}) for names in params.jobs]
    auto = [AutoShards(**split) for split in params.auto_shards]
    missing: dict[str, int] = {}
    table, shards, remarks = plan_generation(jobs, planned, params.seeds, auto, params.limit, params.at_once, missing)
    receipt = plan_receipt(table.row(-1, named=True), params.of, shards, used_in_all(Path(params.logs)), missing)
    write_csv(csv_table(table, planned), params.csv)
    write_json(receipt, params.receipt)
    notes = [
        *remarks,
        *(processing_note(key, path) for key, path in of_pattern(params.processed, snakemake.input.processed).keyed),
        *map(size_note, params.sizes),
        *params.notes,
        *budget_lines(params.budget, receipt),
        f"Also in {params.csv}.",
    ]
    say(printed_table(table, planned), *notes)
