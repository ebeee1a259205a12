"""Export the scores of a generator's answers as AutoJudge records."""

from ragrelay.annexes.exchange.scores import export_scores
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    files = keyed_files(snakemake.params.patterns, snakemake.input)
    export_scores(files["scores"], snakemake.wildcards.generator, snakemake.output[0])
