"""Score stored answers and their regenerated counterparts."""

import polars as pl
from ragrelay.annexes.recheck.scores import score_recheck
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.cache_use import in_use
from ragrelay.execution.jobs.scripts import job_log

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    in_use(snakemake.params.cache_dir),
):
    inputs, params = snakemake.input, snakemake.params
    scores = score_recheck(
        pl.read_parquet(inputs.answers),
        inputs.references,
        params.grades,
        scorer=params.scorer,
        cache_dir=params.cache_dir,
        threads=snakemake.threads,
    )
    write_parquet(scores, snakemake.output[0])
