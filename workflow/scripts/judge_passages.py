"""Ask a generator about each passage; its probabilities go into their store, the output is a receipt."""

from ragrelay.annotations.judgements import judge_passages
from ragrelay.io.atomic_files import write_json
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    params = snakemake.params
    receipt = judge_passages(
        snakemake.input.prompts,
        params.words,
        params.begins,
        params.generator,
        params.fingerprint,
        params.cache_dir,
        snakemake.threads,
    )
    write_json(receipt, snakemake.output.receipt)
