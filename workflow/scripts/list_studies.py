"""Write the list of studies, and print those that are broken or not finished."""

from pathlib import Path

from ragrelay.annexes.studies.listed import read_all
from ragrelay.annexes.studies.page import NAME, keep_list
from ragrelay.base.display.terminal import say, tell
from ragrelay.workflow.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    root = Path(snakemake.params.root)
    for warning in keep_list(root):
        tell(f"ragrelay: warning: {warning}")
    studies, _ = read_all(root)
    troubles = [f"{study.name}: {study.trouble}" for study in studies if study.trouble]
    say(*troubles, f"{len(studies)} studies, {len(troubles)} of them not whole: {root / NAME}")
