"""Compute every predictor for a retriever and generator, with a value for each query, k and ordering."""

from ragrelay.annexes.prediction.job import predict_utility
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.store import AnswerStore
from ragrelay.retrieval.indexes import opened_index

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    dense = None
    if params.dense:
        collection = open_collection(params.dataset)
        index = opened_index(inputs.index[0], collection, "dense", params.cache_dir, snakemake.threads)
        dense = (params.dense, index)
    files = keyed_files(params.patterns, inputs)
    table = predict_utility(
        inputs,
        files["answers"],
        AnswerStore(params.cache_dir, params.fingerprint),
        params.contexts,
        params.settings,
        dense,
        params.cache_dir,
        snakemake.threads,
        files["agreement"].by("scorer"),
        files["shown"],
    )
    write_parquet(table, snakemake.output[0])
