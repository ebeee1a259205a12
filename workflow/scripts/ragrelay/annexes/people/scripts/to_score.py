"""Draw answers from each dataset for people to score next, and write the answers to CSV files."""

from ragrelay.annexes.people.to_score import to_score
from ragrelay.base.display.terminal import say
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    lines = to_score(
        keyed_files(params.patterns, snakemake.input),
        params.files,
        params.outputs,
        params.scorer,
        params.cells,
        params.drawn_from,
        params.number,
        params.seed,
    )
    say(*lines)
