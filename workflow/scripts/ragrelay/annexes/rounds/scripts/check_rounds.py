"""Check that a prompt with the passages of all rounds fits the generator's window."""

import polars as pl
from ragrelay.annexes.rounds.window import check_rounds
from ragrelay.base.io.atomic_files import write_json
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    checked = check_rounds(
        pl.read_parquet(snakemake.input.queries),
        [pl.read_parquet(path) for path in snakemake.input.contexts],
        Template(**snakemake.params.template),
        snakemake.params.generator,
        snakemake.params.passages,
    )
    write_json(checked, snakemake.output[0])
