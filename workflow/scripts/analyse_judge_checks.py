"""By how much a judge's scores change where nothing should count; an empty table for a scorer without checks."""

import polars as pl
from ragrelay.analysis.judge_checks import analyse_judge_checks
from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.vocabulary.columns import named

with job_log(snakemake.log[0], snakemake.input):
    scores = [pl.read_parquet(path) for path in snakemake.input]
    table = analyse_judge_checks(scores, resamples=snakemake.params.resamples, seed=snakemake.params.seed)
    write_csv(named(table, snakemake.wildcards), snakemake.output[0])
