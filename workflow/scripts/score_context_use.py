"""Score a retriever's answers with and without their contexts; the outputs are the table and a receipt."""

from ragrelay.context_use.job import context_use
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    table, receipt = context_use(
        answers=snakemake.input.answers,
        cells=[{**cell, "retriever": snakemake.wildcards.retriever} for cell in snakemake.params.cells],
        prompts=snakemake.input.prompts,
        zeroshot_answers=snakemake.input.zeroshot_answers,
        zeroshot_prompts=snakemake.input.zeroshot_prompts,
        generator=snakemake.params.generator,
        fingerprint=snakemake.params.fingerprint,
        cache_dir=snakemake.params.cache_dir,
        threads=snakemake.threads,
    )
    write_parquet(table, snakemake.output.table)
    write_json(receipt, snakemake.output.receipt)
