"""Index a corpus and cache the index, or only check whether it is missing. The output is a receipt or a count."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.retrieval.indexes import index_corpus

with job_log(snakemake.log[0], snakemake.input), counted_work(snakemake):
    collection = open_collection(snakemake.params.dataset)
    kind, definition = snakemake.params.kind, snakemake.params.index
    receipt = index_corpus(collection, kind, definition, snakemake.params.cache_dir, snakemake.threads)
    write_json(receipt, snakemake.output[0])
