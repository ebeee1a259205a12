"""Queries, judgements and references of one dataset."""

from ragrelay.collection import open_collection
from ragrelay.collection.prepare import prepare
from ragrelay.files import write_json, write_parquet
from ragrelay.jobs import job_log
from ragrelay.retrieval.trec import read_run

with job_log(snakemake.log[0]):
    definition = snakemake.params.definition
    for path in snakemake.input.runs:
        read_run(path)
    queries, qrels, references, left_out = prepare(
        open_collection(definition), snakemake.params.grades, f"dataset {snakemake.wildcards.dataset}"
    )
    write_parquet(queries, snakemake.output.queries)
    write_parquet(qrels, snakemake.output.qrels)
    write_parquet(references, snakemake.output.references)
    write_json(left_out, snakemake.output.left_out)
