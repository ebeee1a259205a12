"""Fetch the grid's hub models and catalogued datasets; the output is a receipt."""

from ragrelay.fetching import fetch_all
from ragrelay.files import write_json
from ragrelay.jobs import job_log

with job_log(snakemake.log[0], hub=True):
    receipt = fetch_all(snakemake.params.models, snakemake.params.datasets)
    write_json(receipt, snakemake.output.receipt)
