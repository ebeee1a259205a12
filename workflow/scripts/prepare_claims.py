"""Read and check the claims of a catalogue entry."""

from ragrelay.acu.reading import read_claims
from ragrelay.files import write_parquet
from ragrelay.jobs import job_log

with job_log(snakemake.log[0]):
    write_parquet(read_claims(snakemake.params.claims), snakemake.output[0])
