"""Fill the store of likelihoods with a retriever's contexts, after their queries."""

from ragrelay.context_perplexity.job import score_contexts
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    asked, receipt = score_contexts(
        queries=files.queries,
        contexts=files.contexts,
        ks=params.ks,
        generator=params.generator,
        fingerprint=params.fingerprint,
        cache_dir=params.cache_dir,
        threads=snakemake.threads,
    )
    write_parquet(asked, snakemake.output.asked)
    write_json(receipt, snakemake.output.receipt)
