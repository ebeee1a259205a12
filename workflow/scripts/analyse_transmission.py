"""utility and retrieval measures -> tables of utility, relevance transmission and significance.

params: retrievers (parallel to input.retrieval), resamples, seed, reference_retriever (may be None).
"""

from ragrelay.analysis.transmission import analyse
from ragrelay.files import write_csv

analysis = analyse(
    snakemake.input.utility,
    dict(zip(snakemake.params.retrievers, snakemake.input.retrieval, strict=True)),
    resamples=snakemake.params.resamples,
    seed=snakemake.params.seed,
    reference_retriever=snakemake.params.reference_retriever,
)
write_csv(analysis.utility, snakemake.output.utility)
write_csv(analysis.correlation, snakemake.output.correlation)
write_csv(analysis.significance, snakemake.output.significance)
