"""Count the first words of a generator's answers."""

import polars as pl
from a_lab.openings.counts import count_openings
from ragrelay.extend import job_log, write_csv

with job_log(snakemake.log[0], snakemake.input):
    answers = pl.concat([pl.read_parquet(path, columns=["answer"]) for path in snakemake.input.answers])
    counts = count_openings(answers.drop_nulls())
    keys = [pl.lit(value).alias(name) for name, value in snakemake.wildcards.items()]
    write_csv(counts.select(*keys, "word", "answers"), snakemake.output.openings)
