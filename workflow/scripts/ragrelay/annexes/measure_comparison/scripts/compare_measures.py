"""Compare retrieval measures by how closely they track answer quality.

params: patterns, kinds (of the retrievers), and declared (the measure chosen in advance, or None).
"""

import polars as pl
from ragrelay.analysis import relay
from ragrelay.analysis.panel_verdicts import read_parts
from ragrelay.annexes.measure_comparison.closeness import PAIRS, compare_measures
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named, read_table, schema_of
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    columns = ["retriever", "ordering", "k", "references", "qid", "p", "p0"]
    utility = pl.scan_parquet(inputs.utility).filter(pl.col("retriever") != ZEROSHOT).select(columns).collect()
    measured = pl.concat(
        pl.read_parquet(path).select(pl.lit(name).alias("retriever"), "*")
        for name, path in files["measures"].by("retriever").items()
    )
    contexts = read_answers(files["prompts"], ["qid", "docnos"])
    cells = relay.cells_of(
        utility, measured, contexts, params.kinds, clusters=numbered_clusters(*inputs.clusters or [None])
    )
    empty = pl.DataFrame(schema=schema_of(PAIRS))
    parts = read_parts(files["parts"].by("scorer"), empty) if inputs.parts else {}
    fits, pairs = compare_measures(cells, read_table(inputs.relay, relay.COLUMNS), params.declared, parts)
    write_csv(named(fits, snakemake.wildcards), snakemake.output.measure_fit)
    write_csv(named(pairs, snakemake.wildcards), snakemake.output.measure_pairs)
