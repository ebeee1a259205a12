"""Compare each study with the first, query by query, using paired tests."""

from ragrelay.annexes.compare.write import compare_studies
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    compare_studies(
        before=snakemake.params.before,
        after=snakemake.params.after,
        pairs=snakemake.params.pairs,
        page=snakemake.output.page,
        tests=snakemake.output.compared_tests,
        queries=snakemake.output.compared_queries,
        template=snakemake.input.template,
    )
