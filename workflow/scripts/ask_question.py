"""Ask all that a job of a question asks; the replies go into their stores, the outputs say what was asked."""

from ragrelay.asking.question import QuestionJob, question_module
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.likelihoods.asker import EngineAsker

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    params, made = snakemake.params, snakemake.output
    job = QuestionJob(dict(snakemake.input.items()), params.settings, dict(snakemake.wildcards.items()))
    asker = EngineAsker(params.generator, params.fingerprint, params.cache_dir, snakemake.threads)
    asked, receipt = question_module(params.question).ask(job, asker)
    if asked is not None:
        write_parquet(asked, made.asked)
    write_json(receipt, made.receipt)
