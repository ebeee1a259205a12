"""Describe the study's results as an RO-Crate."""

from pathlib import Path

from ragrelay.annexes.exchange.crate import describe_results
from ragrelay.annexes.notebook.study_results import open_results
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    folder = Path(snakemake.output[0]).parent
    questions = snakemake.params.questions
    describe_results(open_results(folder), snakemake.params.study, map(Path, snakemake.input), questions)
