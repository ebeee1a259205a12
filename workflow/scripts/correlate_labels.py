"""How every annotation source's measures follow end-to-end performance and utility, and the best one's lead."""

import polars as pl
from ragrelay.annotations.correlation import label_correlations
from ragrelay.annotations.leads import leads
from ragrelay.annotations.within_queries import label_within
from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.vocabulary.columns import named

with job_log(snakemake.log[0]):
    values = pl.read_parquet(snakemake.input["values"])
    utility = pl.read_parquet(snakemake.input.utility)
    how = (snakemake.params.resamples, snakemake.params.seed)
    correlations = label_correlations(values, utility, *how)
    write_csv(named(correlations, snakemake.wildcards), snakemake.output.correlation)
    ahead = leads(correlations, values, utility, *how, snakemake.params.constant)
    write_csv(named(ahead, snakemake.wildcards), snakemake.output.leads)
    within = label_within(values, utility, snakemake.params.kinds, snakemake.params.constant)
    write_csv(named(within, snakemake.wildcards), snakemake.output.within)
