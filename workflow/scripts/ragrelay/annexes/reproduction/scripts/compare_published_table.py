"""Compare a table of the study with the corresponding published table."""

from ragrelay.annexes.reproduction.claims import compare_published_claims
from ragrelay.annexes.reproduction.labels import compare_published_cost, compare_published_labels
from ragrelay.annexes.reproduction.published import read_published
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.execution.jobs.scripts import job_log

kind, ours = snakemake.params.kind, snakemake.input.ours
with job_log(snakemake.log[0], snakemake.input):
    rows = read_published(snakemake.input.published, kind, snakemake.params.names)
    if kind == "labels":
        table = compare_published_labels(rows, ours)
    elif kind == "label_cost":
        table = compare_published_cost(rows, ours)
    else:
        table = compare_published_claims(rows, ours)
    write_csv(table, snakemake.output[0])
