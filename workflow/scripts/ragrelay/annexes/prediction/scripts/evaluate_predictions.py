"""Evaluate the predictions for a dataset, generator and scorer."""

from ragrelay.annexes.prediction.evaluation import evaluate_predictions
from ragrelay.base.io.atomic_files import write_csv, write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)
    predictions, retrieval = (files[name].by("retriever") for name in ("predictions", "retrieval"))
    tables = evaluate_predictions(
        {name: predictions[name] for name in params.kinds},
        snakemake.input.utility,
        retrieval,
        params.kinds,
        params.rankings,
        params.measure,
        **params.draws,
    )
    write_parquet(named(tables.pop("sare"), snakemake.wildcards), snakemake.output.sare)
    for name, table in tables.items():
        write_csv(named(table, snakemake.wildcards), snakemake.output[name])
