"""Print what generating the study will ask of the engine, and write it as CSV; no engine is started."""

from ragrelay.generation.plan import Planner, Unit, plan_generation
from ragrelay.generation.plan_table import csv_table, printed_table
from ragrelay.io.atomic_files import write_csv
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    planners = {
        name: Planner(
            definition,
            params.fingerprints[name],
            Template(**params.templates[name]),
            params.cache_dir,
            snakemake.threads,
        )
        for name, definition in params.generators.items()
    }
    files = keyed_files(params.patterns, snakemake.input)
    units = [Unit.of(names, params.generators[names["generator"]]["prompt"], files) for names in params.units]
    table = plan_generation(units, planners, params.seeds)
    paces = {name: planner.pace for name, planner in planners.items()}
    write_csv(csv_table(table, paces), params.csv)
    print(printed_table(table, paces, params.uncounted))
    print(f"Also in {params.csv}.")
