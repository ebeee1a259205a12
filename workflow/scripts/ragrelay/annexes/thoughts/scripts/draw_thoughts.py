"""Draw how many tokens a generator thinks against k."""

from pathlib import Path

from ragrelay.annexes.thoughts.figures import draw_thoughts
from ragrelay.annexes.thoughts.study import read_study
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.display.sections import Grid

with job_log(snakemake.log[0], snakemake.input):
    shown, keys = snakemake.params.shown, dict(snakemake.wildcards.items())
    study = read_study(snakemake.input, keys, Grid.of(shown["grid"]), shown["primary"][keys["dataset"]])
    draw_thoughts(study, Path(snakemake.params.report) / "figures")
