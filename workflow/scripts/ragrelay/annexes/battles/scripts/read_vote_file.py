"""Read a file that contains votes on pairs of answers."""

from pathlib import Path

from ragrelay.annexes.battles.vote_files import read_vote_file
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.filed_scores import generated

with job_log(snakemake.log[0], snakemake.input):
    inputs, params, generator = snakemake.input, snakemake.params, snakemake.wildcards.generator
    answers = generated(keyed_files(params.patterns, inputs)["answers"], generator)
    path, pairs = Path(inputs.file), [(retriever, against) for retriever, against in params.pairs]
    votes, counts = read_vote_file(path, params.grid, pairs, answers, generator)
    write_parquet(votes, snakemake.output.votes)
    write_json(counts, snakemake.output.left_out)
