"""Correlate label-based measures with P and utility, and test the best source's lead."""

import polars as pl
from ragrelay.annexes.labels.choices import label_choices
from ragrelay.annexes.labels.correlation import label_correlations
from ragrelay.annexes.labels.leads import leads
from ragrelay.annexes.labels.within_queries import label_within
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    values = pl.read_parquet(snakemake.input["values"])
    utility = pl.read_parquet(snakemake.input.utility)
    draws = snakemake.params.draws
    correlations = label_correlations(values, utility, **draws)
    write_csv(named(correlations, snakemake.wildcards), snakemake.output.label_correlation)
    ahead = leads(correlations, values, utility, nulls=snakemake.params.constant, **draws)
    write_csv(named(ahead, snakemake.wildcards), snakemake.output.label_leads)
    who = (snakemake.params.kinds, snakemake.params.constant)
    write_csv(named(label_within(values, utility, *who), snakemake.wildcards), snakemake.output.label_within)
    write_csv(named(label_choices(values, utility, *who), snakemake.wildcards), snakemake.output.label_choices)
