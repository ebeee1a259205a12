"""Set several studies side by side, each compared with the first."""

from ragrelay.annexes.compare.several import compare_several
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    compare_several(
        before=snakemake.params.before,
        after=snakemake.params.after,
        pairs=snakemake.params.pairs,
        tests=snakemake.input.tests,
        queries=snakemake.input.queries,
        page=snakemake.output.page,
        table=snakemake.output.compared_several,
        template=snakemake.input.template,
    )
