"""Queries, judgements and references of one dataset."""

from ragrelay.collection import open_collection
from ragrelay.collection.prepare import count_without_gold, prepare
from ragrelay.files import write_json, write_parquet
from ragrelay.jobs import job_log
from ragrelay.retrieval.trec import read_run

with job_log(snakemake.log[0]):
    definition = snakemake.params.definition
    for path in snakemake.input.runs:
        read_run(path)
    place = f"dataset {snakemake.wildcards.dataset}"
    queries, qrels, references, left_out = prepare(open_collection(definition), snakemake.params.grades, place)
    if snakemake.params.gold:
        left_out.append(count_without_gold(queries, place, snakemake.params.gold))
    write_parquet(queries, snakemake.output.queries)
    write_parquet(qrels, snakemake.output.qrels)
    write_parquet(references, snakemake.output.references)
    write_json(left_out, snakemake.output.left_out)
