"""Labels of passages from a file of judgements."""

from pathlib import Path

from ragrelay.annotations.file_labels import label_by_file
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    write_parquet(label_by_file(Path(snakemake.input.labels), snakemake.input.queries), snakemake.output[0])
