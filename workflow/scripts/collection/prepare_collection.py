"""Prepare a dataset's queries and judgements, and check all its files, imported runs and answers."""

from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.collection import open_collection
from ragrelay.collection.prepare import prepare_collection, prepare_references
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.imported.imported_answers import checked_answers
from ragrelay.generation.imported.passage_answers import checked_passages
from ragrelay.retrieval.run_checks import check_measures, check_runs

with job_log(snakemake.log[0], snakemake.input):
    definition, checked = snakemake.params.definition, snakemake.params.checked
    collection = open_collection(definition)
    place = f"dataset {snakemake.wildcards.dataset} ({definition.get('path', definition.get('id'))})"
    queries, qrels, left_out = prepare_collection(collection, place, bool(snakemake.params.drop_identical_ids))
    prepare_references(collection, queries, qrels, checked["grades"], place)
    cache_dir = snakemake.params.cache_dir
    check_runs(checked["runs"], definition, queries, collection, cache_dir)
    check_measures(checked["measures"], definition, qrels, cache_dir)
    for imported in checked["answers"]:
        checked_answers(**imported, collection=collection, qids=queries["qid"].to_list())
    for imported in checked["passages"]:
        checked_passages(**imported, collection=collection)
    write_parquet(queries, snakemake.output.queries)
    write_parquet(qrels, snakemake.output.qrels)
    write_json(left_out, snakemake.output.left_out)
