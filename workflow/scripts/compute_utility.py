"""scores of all retrievers -> utility per query. params: patterns, mode, counted."""

from ragrelay.analysis.utility import compute_utility, write_utility
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)
    scores, uses = files["scores"].by("retriever"), files["uses"].by("retriever")
    write_utility(compute_utility(scores, params.mode, uses, params.counted), snakemake.output[0])
