"""The study's tables as Parquet, with a data card."""

from pathlib import Path

from ragrelay.jobs.scripts import job_log
from ragrelay.results import load
from ragrelay.results.exported_tables import export_tables

with job_log(snakemake.log[0], snakemake.input):
    tables = {Path(path).stem: path for path in snakemake.output.tables}
    folder = Path(snakemake.output.card).parents[2]
    export_tables(load(folder), tables, snakemake.output.card, snakemake.params.study)
