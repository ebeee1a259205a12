"""Write the list of studies, and print the studies that are broken or unfinished."""

from pathlib import Path

from ragrelay.annexes.studies.page import list_studies
from ragrelay.base.display.terminal import say, tell
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    warnings, lines = list_studies(Path(snakemake.params.root))
    for warning in warnings:
        tell(warning)
    say(*lines)
