"""Train regressions on the other datasets, and test them on one dataset."""

from ragrelay.annexes.prediction.transfer import transfer_predictions
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params, wildcards = snakemake.params, snakemake.wildcards
    files = keyed_files(params.patterns, snakemake.input)
    predictions, retrieval = (
        {dataset: files[name].matching(dataset=dataset).by("retriever") for dataset in params.datasets}
        for name in ("predictions", "retrieval")
    )
    utility = files["utility"].by("dataset")
    table = transfer_predictions(predictions, utility, retrieval, params.measure, wildcards.dataset, params.seed)
    write_csv(named(table, wildcards), snakemake.output[0])
