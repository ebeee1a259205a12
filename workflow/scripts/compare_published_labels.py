"""Correlations of annotation sources' labels with P, compared with published ones."""

from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.reproduction.labels import compare_published_labels
from ragrelay.reproduction.published import read_published

with job_log(snakemake.log[0], snakemake.input):
    rows = read_published(snakemake.input.published, "labels", snakemake.params.names)
    write_csv(compare_published_labels(rows, snakemake.input.correlation), snakemake.output[0])
