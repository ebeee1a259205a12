"""Score a round's answers."""

from ragrelay.annexes.rounds.scores import score_round_answers
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.execution.jobs.scripts import job_log

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted_work(snakemake),
):
    inputs, params = snakemake.input, snakemake.params
    scores = score_round_answers(
        inputs.answers, inputs.references, params.grades, params.scorer, params.cache_dir, snakemake.threads
    )
    write_parquet(scores, snakemake.output[0])
