"""Describe how scores vary across seeds, and utility by the position of relevant passages in the prompt."""

import polars as pl
from ragrelay.analysis.positions import utility_by_position
from ragrelay.analysis.spread import seed_spread
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    spread = seed_spread(files["scores"].by("retriever"))
    write_csv(named(spread, snakemake.wildcards), snakemake.output.spread)
    qrels, utility = pl.read_parquet(inputs.qrels), pl.read_parquet(inputs.utility)
    places = utility_by_position(files["prompts"], qrels, utility, params.grades)
    write_csv(named(places, snakemake.wildcards), snakemake.output.positions)
