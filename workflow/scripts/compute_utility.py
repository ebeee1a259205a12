"""scores of all retrievers -> utility per query. params: retrievers (parallel to input.scores), mode."""

from ragrelay.analysis.utility import utility_tables, write_utility

scores = dict(zip(snakemake.params.retrievers, snakemake.input.scores, strict=True))
write_utility(utility_tables(scores, snakemake.params.mode), snakemake.output[0])
