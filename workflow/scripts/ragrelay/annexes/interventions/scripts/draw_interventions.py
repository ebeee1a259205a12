"""Draw the effect of one relevant passage, by position in the prompt."""

from pathlib import Path

from ragrelay.annexes.interventions.figures import draw_interventions
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    study = EffectStudy.read(snakemake.input, dict(snakemake.wildcards.items()))
    draw_interventions(study, Path(snakemake.params.report) / "figures")
