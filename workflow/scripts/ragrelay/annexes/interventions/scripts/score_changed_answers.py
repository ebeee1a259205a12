"""Score the answers to prompts with a retriever's changed contexts."""

from ragrelay.annexes.interventions.scores import score_changed_answers
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.execution.jobs.scripts import job_log

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted_work(snakemake),
):
    inputs, params = snakemake.input, snakemake.params
    scores = score_changed_answers(
        inputs.answers,
        inputs.references,
        params.grades,
        params.scorer,
        params.cache_dir,
        snakemake.threads,
        inputs.passages,
        params.near_copy,
    )
    write_parquet(scores, snakemake.output[0])
