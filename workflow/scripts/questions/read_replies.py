"""Write a question's table from the stored replies."""

from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.likelihoods.asker import StoreAsker
from ragrelay.questions.outputs import write_made
from ragrelay.questions.parts import read_parts

with job_log(snakemake.log[0], snakemake.input):
    params, outputs = snakemake.params, snakemake.output
    asker = StoreAsker(params.generator, params.fingerprint, params.texts, params.cache_dir, params.asks)
    inputs, asked_file = dict(snakemake.input.items()), outputs.get("asked")
    write_made(read_parts(params.question, inputs, params.parts, asker, asked_file), outputs)
