"""Labels of all annotation sources, and what they make of every retriever's ranking."""

from ragrelay.annotations.study_labels import measure_sources
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    given, params = snakemake.input, snakemake.params
    labels, values = measure_sources(
        contexts=dict(zip(params.retrievers, given.contexts, strict=True)),
        queries=given.queries,
        qrels=given.qrels,
        made=dict(zip(params.made, given.labels, strict=True)),
        annotations=params.annotations,
        names=params.names,
        references=params.references,
        measures=params.measures,
        ks=params.ks,
        depth=params.depth,
        lowest_grade=params.lowest_grade,
    )
    write_parquet(labels, snakemake.output.labels)
    write_parquet(values, snakemake.output["values"])
