"""Cost of labels by the generator, compared with published seconds."""

from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.reproduction.labels import compare_published_cost
from ragrelay.reproduction.published import read_published

with job_log(snakemake.log[0], snakemake.input):
    rows = read_published(snakemake.input.published, "label_cost", snakemake.params.names)
    write_csv(compare_published_cost(rows, snakemake.input.cost), snakemake.output[0])
