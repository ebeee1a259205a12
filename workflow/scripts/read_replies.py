"""Make a question's table of replies, from the stores."""

from ragrelay.asking.outputs import write_made
from ragrelay.asking.parts import read_parts
from ragrelay.jobs.scripts import job_log
from ragrelay.likelihoods.asker import StoreAsker

with job_log(snakemake.log[0], snakemake.input):
    params, outputs = snakemake.params, snakemake.output
    asker = StoreAsker(params.generator, params.fingerprint, params.texts, params.cache_dir, params.asks)
    inputs, asked_file = dict(snakemake.input.items()), outputs.get("asked")
    write_made(read_parts(params.question, inputs, params.parts, asker, asked_file), outputs)
