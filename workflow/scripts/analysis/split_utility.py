"""Split mean utility by whether the context was good and whether the answer used it."""

from ragrelay.analysis.context_use_split import split_utility
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    retrieval = keyed_files(params.patterns, snakemake.input)["retrieval"].by("retriever")
    table = split_utility(snakemake.input.utility, retrieval, params.measure, **params.draws)
    write_csv(named(table, snakemake.wildcards), snakemake.output[0])
