"""Read and check the claims for a catalogue entry."""

from ragrelay.annexes.acu.source import prepare_claims
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log

# Runs where snakemake is started, as fetch_input does, and may download from a hub.
with job_log(snakemake.log[0], snakemake.input, hub=True):
    write_parquet(prepare_claims(snakemake.params.claims), snakemake.output[0])
