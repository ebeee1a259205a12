"""Write the queries for a round from the answers of the previous round."""

import polars as pl
from ragrelay.annexes.rounds.queries import write_round_queries
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs = snakemake.input
    paths = [inputs.answers] if isinstance(inputs.answers, str) else inputs.answers
    table = write_round_queries(
        pl.read_parquet(inputs.queries),
        pl.concat(pl.read_parquet(path, columns=["qid", "seed", "answer"], glob=False) for path in paths),
        pl.read_parquet(inputs.prompts),
        snakemake.params.next_query,
        snakemake.params.seeds,
    )
    write_parquet(table, snakemake.output[0])
