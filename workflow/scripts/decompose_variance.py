"""scores of all retrievers -> queries and seeds as components of variance. params: retrievers (parallel to input)."""

from ragrelay.analysis.variance import decompose
from ragrelay.io.atomic_files import write_csv

scores = dict(zip(snakemake.params.retrievers, snakemake.input.scores, strict=True))
write_csv(decompose(scores), snakemake.output[0])
