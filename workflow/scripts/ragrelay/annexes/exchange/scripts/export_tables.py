"""Export the study's tables as Parquet, with a data card."""

from pathlib import Path

from ragrelay.annexes.exchange.exported_tables import export_tables
from ragrelay.annexes.notebook.study_results import open_results
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    tables = {Path(path).stem: path for path in snakemake.output.tables}
    folder = Path(snakemake.output.card).parents[2]
    export_tables(open_results(folder), tables, snakemake.output.card, snakemake.params.study)
