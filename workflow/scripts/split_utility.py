"""Utility by whether the context was good and whether it was used."""

from ragrelay.analysis.context_use_split import use_summary
from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.vocabulary.columns import named

with job_log(snakemake.log[0]):
    params = snakemake.params
    retrieval = dict(zip(params.retrievers, snakemake.input.retrieval, strict=True))
    table = use_summary(snakemake.input.utility, retrieval, params.measure, params.resamples, params.seed)
    write_csv(named(table, snakemake.wildcards), snakemake.output[0])
