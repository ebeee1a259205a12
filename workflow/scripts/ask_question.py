"""Make all requests of a question's job. The stores keep the replies; the outputs record the requests."""

from ragrelay.asking.question import QuestionJob, question_module
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.engine_use import counted
from ragrelay.jobs.scripts import job_log
from ragrelay.likelihoods.asker import EngineAsker

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted(snakemake.log[0], snakemake.resources.get("gpu", 0)),
):
    params, outputs = snakemake.params, snakemake.output
    job = QuestionJob(dict(snakemake.input.items()), params.settings, dict(snakemake.wildcards.items()))
    asker = EngineAsker(params.generator, params.fingerprint, params.cache_dir, snakemake.threads)
    asked, receipt = question_module(params.question).ask(job, asker)
    if asked is not None:
        write_parquet(asked, outputs.asked)
    write_json(receipt, outputs.receipt)
