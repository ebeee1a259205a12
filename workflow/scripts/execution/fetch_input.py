"""Download one input that the grid needs from a hub, ir_datasets or Terrier. The output is a receipt."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.execution.fetching.inputs import fetch_input
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input, hub=True):
    write_json(fetch_input(**snakemake.params.download), snakemake.output.receipt)
