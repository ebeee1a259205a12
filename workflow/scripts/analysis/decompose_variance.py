"""Decompose the variance in all retrievers' scores into queries and seeds, and compute the reliability of utility.

params: patterns, mode (of the utility).
"""

from ragrelay.analysis.variance import decompose_variance, utility_reliability
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import CELL, named
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    scores = keyed_files(snakemake.params.patterns, snakemake.input)["scores"].by("retriever")
    reliability = utility_reliability(scores, snakemake.params.mode)
    table = decompose_variance(scores).join(reliability, on=CELL, how="left", maintain_order="left")
    write_csv(named(table, snakemake.wildcards), snakemake.output[0])
