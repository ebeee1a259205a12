"""Fill the store of likelihoods with a retriever's answers, after their prompts with and without their contexts."""

from ragrelay.context_use.job import score_context_use
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    asked, receipt = score_context_use(
        answers=keyed_files(params.patterns, files)["answers"],
        prompts=files.prompts,
        zeroshot_prompts=files.zeroshot_prompts,
        generator=params.generator,
        fingerprint=params.fingerprint,
        cache_dir=params.cache_dir,
        threads=snakemake.threads,
    )
    write_parquet(asked, snakemake.output.asked)
    write_json(receipt, snakemake.output.receipt)
