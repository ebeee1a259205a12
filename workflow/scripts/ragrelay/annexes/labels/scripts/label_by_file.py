"""Read passage labels from a judgement file, and count missing labels."""

from pathlib import Path

from ragrelay.annexes.labels.file_labels import label_by_file
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs = snakemake.input
    labels, missing = label_by_file(Path(inputs.labels), inputs.queries, inputs.contexts, snakemake.params.depth)
    write_parquet(labels, snakemake.output.labels)
    write_json(missing, snakemake.output.left_out)
