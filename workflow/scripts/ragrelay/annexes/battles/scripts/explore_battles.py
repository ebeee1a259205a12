"""Write the answers compared in battles, and the votes on these answers, for the query explorer."""

import polars as pl
from ragrelay.annexes.battles.explored import explore_battles
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)
    votes = files["votes"].by("battle")
    answers = read_answers(files["answers"], ["qid", "seed", "answer", "finish_reason", "answer_tokens"])
    tables = {name: pl.read_parquet(votes[name]).filter(**params.cell) for name in params.members}
    write_parquet(explore_battles(tables, answers, snakemake.wildcards.battle, params.cell), snakemake.output[0])
