"""Print what generating the study will ask of the engine, and write it as CSV; no engine is started."""

from pathlib import Path

from ragrelay.generation.plan import WITHOUT_CONTEXTS, Planner, Unit, plan
from ragrelay.generation.plan_table import csv_table, printed_table
from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0]):
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
    prompts, contexts = iter(map(Path, snakemake.input.prompts)), iter(map(Path, snakemake.input.contexts))
    units = [
        Unit(
            **names,
            prompts=[next(prompts) for _ in range(files)],
            queries=Path(queries),
            contexts=None if names["retriever"] in WITHOUT_CONTEXTS else next(contexts),
        )
        for names, files, queries in zip(params.units, params.files, snakemake.input.queries, strict=True)
    ]
    table = plan(units, planners, params.seeds)
    paces = {name: planner.pace for name, planner in planners.items()}
    write_csv(csv_table(table, paces), params.csv)
    print(printed_table(table, paces, params.uncounted))
    print(f"Also in {params.csv}.")
