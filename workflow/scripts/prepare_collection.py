"""Queries, judgements and references of one dataset."""

from ragrelay.collection import open_collection
from ragrelay.collection.prepare import prepare
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.retrieval.trec import check_run

with job_log(snakemake.log[0]):
    definition = snakemake.params.definition
    collection = open_collection(definition)
    place = f"dataset {snakemake.wildcards.dataset} ({definition.get('path', definition.get('id'))})"
    queries, qrels, references, left_out = prepare(collection, snakemake.params.grades, place)
    for path in snakemake.input.runs:
        check_run(path, queries, collection)
    write_parquet(queries, snakemake.output.queries)
    write_parquet(qrels, snakemake.output.qrels)
    write_parquet(references, snakemake.output.references)
    write_json(left_out, snakemake.output.left_out)
