"""Count the passages in contexts that a quality file lacks."""

from pathlib import Path

from ragrelay.io.atomic_files import write_json
from ragrelay.jobs.scripts import job_log
from ragrelay.prediction.model_scores import check_quality

with job_log(snakemake.log[0], snakemake.input):
    missing = check_quality(Path(snakemake.input.file), snakemake.input.contexts, snakemake.params.k)
    write_json(missing, snakemake.output[0])
