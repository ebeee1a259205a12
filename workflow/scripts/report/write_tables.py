"""Write a study's tables as CSV, Parquet and LaTeX."""

from pathlib import Path

from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.display.outputs import Table
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_study, with_files
from ragrelay.report.table_files import write_tables

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    study = read_study(
        name=params.study,
        grid=params.grid,
        reference_retriever=params.reference_retriever,
        sections=with_files(params.sections, keyed_files(params.patterns, snakemake.input)),
        provenance=snakemake.input.provenance,
        left_out=snakemake.input.left_out,
    )
    tables = [output for output in OUTPUTS if isinstance(output, Table)]
    write_tables(study, tables, Path(snakemake.output[0]).parent)
