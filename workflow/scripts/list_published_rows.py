"""List the papers' tables and figures with which the study is compared."""

from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.reproduction.rows import list_published_rows

with job_log(snakemake.log[0], snakemake.input):
    write_csv(list_published_rows(snakemake.input.rows, snakemake.params.published), snakemake.output.reproduced_rows)
