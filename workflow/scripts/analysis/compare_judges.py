"""Compare a panel's results with those that leave out each judge, and measure how much the judges agree.

params: judges, primary, references, patterns.
"""

import polars as pl
from ragrelay.analysis.panel import SCHEMA, compare_judges, judge_agreement
from ragrelay.analysis.relay import COLUMNS as RELAY
from ragrelay.analysis.systems import COLUMNS as SYSTEMS
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named, read_table
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params, files = snakemake.params, keyed_files(snakemake.params.patterns, snakemake.input)
    systems, slopes = (
        {name: read_table(path, columns) for name, path in files[table].by("scorer").items()}
        for table, columns in (("systems", SYSTEMS), ("relay", RELAY))
    )
    scores = {
        judge: pl.concat(
            pl.read_parquet(path).select(pl.lit(retriever).alias("retriever"), "*")
            for retriever, path in files["scores"].matching(scorer=judge).by("retriever").items()
        )
        for judge in params.judges
    }
    primary = params.primary and Primary(**params.primary)
    compared = compare_judges(systems, slopes, params.judges, primary) if primary else pl.DataFrame(schema=SCHEMA)
    clusters = numbered_clusters(*snakemake.input.clusters or [None])
    agreement = judge_agreement(scores, params.references, clusters)
    write_csv(named(compared, snakemake.wildcards), snakemake.output.panel)
    write_csv(named(agreement, snakemake.wildcards), snakemake.output.panel_agreement)
