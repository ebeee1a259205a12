"""A table of the study compared with the published one of its kind."""

from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.reproduction.claims import compare_published_claims
from ragrelay.reproduction.labels import compare_published_cost, compare_published_labels
from ragrelay.reproduction.published import read_published

COMPARED = {
    "labels": compare_published_labels,
    "label_cost": compare_published_cost,
    "claims": compare_published_claims,
}

with job_log(snakemake.log[0], snakemake.input):
    rows = read_published(snakemake.input.published, snakemake.params.kind, snakemake.params.names)
    write_csv(COMPARED[snakemake.params.kind](rows, snakemake.input.ours), snakemake.output[0])
