"""Make a question's table of replies, from the stores."""

import json

from ragrelay.asking.outputs import write_made
from ragrelay.asking.question import QuestionJob, question_module
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    job = QuestionJob(dict(snakemake.input.items()), params.settings, dict(snakemake.wildcards.items()))
    receipts = [json.loads(path.read_text(encoding="utf-8")) for path in job.paths("receipt")]
    made = question_module(params.question).read(job, receipts[0], params.cache_dir)
    write_made(made, snakemake.output)
