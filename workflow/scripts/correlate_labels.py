"""Correlate annotation sources' measures with end-to-end performance and utility, and test the best one's lead."""

import polars as pl
from ragrelay.annotations.choices import label_choices
from ragrelay.annotations.correlation import label_correlations
from ragrelay.annotations.leads import leads
from ragrelay.annotations.within_queries import label_within
from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.vocabulary.columns import named

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
