"""Count the context passages for which a file has no quality value."""

from pathlib import Path

from ragrelay.annexes.prediction.model_scores import check_quality
from ragrelay.base.io.atomic_files import write_json
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    missing = check_quality(Path(snakemake.input.file), snakemake.input.contexts, snakemake.params.k)
    write_json(missing, snakemake.output[0])
