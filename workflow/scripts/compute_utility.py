"""scores of all retrievers -> utility per query. params: retrievers (parallel to input.scores), mode, counted."""

from ragrelay.analysis.utility import utility_tables, write_utility

scores = dict(zip(snakemake.params.retrievers, snakemake.input.scores, strict=True))
# Zero-shot answers, the first, have no context to use.
uses = dict(zip(snakemake.params.retrievers[1:], snakemake.input.get("uses") or [], strict=False))
tables = utility_tables(scores, snakemake.params.mode, uses, snakemake.params.counted)
write_utility(tables, snakemake.output[0])
