"""Mean ACU of a claims study compared with published means."""

from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.reproduction.claims import compare_published_claims
from ragrelay.reproduction.published import read_published

with job_log(snakemake.log[0], snakemake.input):
    rows = read_published(snakemake.input.published, "claims", snakemake.params.names)
    write_csv(compare_published_claims(rows, snakemake.input.usage), snakemake.output[0])
