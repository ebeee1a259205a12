"""Write a scorer's tables and figures on annotation sources, for all datasets, generators and retrievers."""

from pathlib import Path

import polars as pl
from ragrelay.annexes.labels.outputs import OUTPUTS
from ragrelay.annexes.labels.study import AnnotationStudy
from ragrelay.annexes.labels.study_tables import TRUST, gather
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.display.outputs import Figure, Table
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.table_files import write_table

with job_log(snakemake.log[0], snakemake.input):
    inputs = snakemake.input
    trust = {name: inputs[name] for name in TRUST}
    tables = gather(inputs.correlation, inputs.leads, inputs.within, inputs.choices, snakemake.params.kinds, trust)
    shown = AnnotationStudy(snakemake.wildcards.scorer, tables, pl.DataFrame())
    report = Path(snakemake.params.report)
    for output in OUTPUTS:
        if isinstance(output, Table):
            write_table(shown, output, report / "tables", shown.keys)
    draw_figures(shown, [output for output in OUTPUTS if isinstance(output, Figure)], report / "figures")
