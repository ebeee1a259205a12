"""Compare a study's cells with a published table: measures of reproduction, and tests of the paper's findings."""

from pathlib import Path

from ragrelay.annexes.reproduction.outputs import OUTPUTS
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.annexes.reproduction.write import compare_published
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.display.outputs import Table
from ragrelay.report.table_files import write_table

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    tables = compare_published(
        files.published,
        params.names,
        {name: files[name] for name in ("utility", "significance")},
        keyed_files(params.patterns, files),
        params.sections,
        params.rankings,
        params.measure,
        snakemake.output,
    )
    for output in OUTPUTS:
        if isinstance(output, Table) and output.of == "reproduction":
            write_table(Reproduction(tables), output, Path(snakemake.output.tex[0]).parent, {})
