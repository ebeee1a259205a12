"""How likely a retriever's contexts are after their queries, from the store of likelihoods."""

from ragrelay.context_perplexity.job import compute_context_likelihoods
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    table = compute_context_likelihoods(snakemake.input.asked, params.fingerprint, params.cache_dir)
    write_parquet(table, snakemake.output[0])
