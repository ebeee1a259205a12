"""Plot how well scorers agree with human scores of a dataset's answers."""

from pathlib import Path

from ragrelay.annexes.people.figures import draw_people
from ragrelay.annexes.people.study import PeopleStudy
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    study = PeopleStudy.read(snakemake.input, dict(snakemake.wildcards.items()), snakemake.params.shown)
    draw_people(study, Path(snakemake.params.report) / "figures")
