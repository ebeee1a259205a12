"""Summarise a recheck: write the table and the record, and print the findings to the terminal."""

from ragrelay.annexes.recheck.write import recheck
from ragrelay.base.display.terminal import say
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)
    lines = recheck(**files, margin=params.margin, imported=params.imported, outputs=params.outputs, page=params.page)
    say(*lines)
