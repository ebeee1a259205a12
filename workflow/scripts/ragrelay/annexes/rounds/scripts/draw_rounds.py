"""Draw P by round."""

from pathlib import Path

from ragrelay.annexes.rounds.figures import draw_rounds
from ragrelay.annexes.rounds.study import RoundsShown
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    study = RoundsShown.read(snakemake.input, dict(snakemake.wildcards.items()), snakemake.params.shown)
    draw_rounds(study, Path(snakemake.params.report) / "figures")
