"""Context use of a retriever's answers, from the store of likelihoods."""

from ragrelay.context_use.table import compute_context_use
from ragrelay.io.atomic_files import write_parquet
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    table = compute_context_use(
        asked=files.asked,
        answers=keyed_files(params.patterns, files)["answers"],
        zeroshot_answers=files.zeroshot_answers,
        fingerprint=params.fingerprint,
        cache_dir=params.cache_dir,
    )
    write_parquet(table, snakemake.output[0])
