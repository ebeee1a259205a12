"""utility and retrieval measures -> the tables of ``Analysis``.

params: kinds (of the retrievers, parallel to input.retrieval), resamples, seed, reference_retriever (may be None),
equivalence_margin.
"""

from ragrelay.analysis.transmission import analyse
from ragrelay.io.atomic_files import write_csv
from ragrelay.vocabulary.columns import named

analysis = analyse(
    snakemake.input.utility,
    dict(zip(snakemake.params.kinds, snakemake.input.retrieval, strict=True)),
    kinds=snakemake.params.kinds,
    resamples=snakemake.params.resamples,
    seed=snakemake.params.seed,
    reference_retriever=snakemake.params.reference_retriever,
    equivalence_margin=snakemake.params.equivalence_margin,
)
for name, table in analysis._asdict().items():
    write_csv(named(table, snakemake.wildcards), snakemake.output[name])
