"""Tables and figure of one scorer's annotation sources, over datasets, generators and retrievers."""

from pathlib import Path

from ragrelay.annotations.study_tables import gather
from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log
from ragrelay.report.annotations import correlation_by_depth
from ragrelay.report.draw import draw
from ragrelay.report.study import Annotations

with job_log(snakemake.log[0]):
    given, params = snakemake.input, snakemake.params
    table, leads = gather(given.correlation, given.leads, params.over, params.kinds)
    write_csv(table, snakemake.output.table)
    write_csv(leads, snakemake.output.leads)
    spec = correlation_by_depth(Annotations(snakemake.wildcards.scorer, table), "paper")
    for path in snakemake.output.figure:
        draw(spec, Path(path))
