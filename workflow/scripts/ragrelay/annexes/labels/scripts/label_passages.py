"""Compute eRAG labels by scoring the answer generated from each single passage."""

from ragrelay.annexes.labels.erag_labels import label_passages
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.execution.jobs.scripts import job_log

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted_work(snakemake),
):
    inputs, params = snakemake.input, snakemake.params
    labels = label_passages(
        inputs.answers,
        inputs.references,
        params.grades,
        params.scorer,
        params.cache_dir,
        snakemake.threads,
        inputs.contexts,
        params.near_copy,
    )
    write_parquet(labels, snakemake.output[0])
