"""Plot the length of a generator's thoughts against k."""

from pathlib import Path

from ragrelay.annexes.thoughts.figures import draw_thoughts
from ragrelay.annexes.thoughts.study import ThoughtStudy
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    study = ThoughtStudy.read(snakemake.input, dict(snakemake.wildcards.items()), snakemake.params.shown)
    draw_thoughts(study, Path(snakemake.params.report) / "figures")
