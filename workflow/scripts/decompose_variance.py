"""scores of all retrievers -> queries and seeds as components of variance, and the reliability of utility.

params: retrievers (parallel to input.scores), mode (of utility).
"""

from ragrelay.analysis.reliability import utility_reliability
from ragrelay.analysis.variance import CELL, decompose
from ragrelay.io.atomic_files import write_csv
from ragrelay.vocabulary.columns import named

scores = dict(zip(snakemake.params.retrievers, snakemake.input.scores, strict=True))
reliability = utility_reliability(scores, snakemake.params.mode)
table = decompose(scores).join(reliability, on=["retriever", *CELL], how="left", maintain_order="left")
write_csv(named(table, snakemake.wildcards), snakemake.output[0])
