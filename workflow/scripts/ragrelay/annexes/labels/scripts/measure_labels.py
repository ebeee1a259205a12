"""Label passages with all annotation sources, and compute retrieval measures from the labels."""

from ragrelay.annexes.labels.study_labels import LabelledFiles, LabelMeasures, made_tables, measure_labels
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    labels, values = measure_labels(
        LabelledFiles(
            contexts=files["contexts"].by("retriever"),
            queries=inputs.queries,
            qrels=inputs.qrels,
            made=made_tables(files, params.annotations, params.names, snakemake.wildcards),
        ),
        params.annotations,
        params.names,
        params.references,
        LabelMeasures(params.measures, params.ks, **params.limits),
    )
    write_parquet(labels, snakemake.output.labels)
    write_parquet(values, snakemake.output["values"])
