"""List the tables and figures in the papers with which the study is compared."""

from ragrelay.annexes.reproduction.rows import list_published_rows
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    write_csv(list_published_rows(snakemake.input.rows, snakemake.params.published), snakemake.output.reproduced_rows)
