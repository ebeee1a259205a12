"""Convert a generator's GGUF file and cache the result. The output is a receipt."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.models.gguf_conversion import convert_model
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    write_json(convert_model(snakemake.params.conversion), snakemake.output.receipt)
