"""Plot how closely each measure tracks answer quality."""

from pathlib import Path

from ragrelay.annexes.measure_comparison.figures import draw_measures
from ragrelay.annexes.measure_comparison.study import MeasuresShown
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    study = MeasuresShown.read(snakemake.input, dict(snakemake.wildcards.items()), snakemake.params.shown)
    draw_measures(study, Path(snakemake.params.report) / "figures")
