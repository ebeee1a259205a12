"""Measure how much a judge's scores change after changes that shouldn't matter."""

import polars as pl
from ragrelay.analysis.judge_checks import analyse_judge_checks
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    scores = pl.read_parquet(snakemake.input[0])
    write_csv(analyse_judge_checks(scores, dict(snakemake.wildcards.items())), snakemake.output[0])
