"""Score table of one retriever's answers from a judge's probabilities."""

import json
from pathlib import Path

from ragrelay.jobs.scripts import job_log
from ragrelay.judging.job import score_judged_answers
from ragrelay.scoring.judged_scorer import judged_scorer

with job_log(snakemake.log[0], snakemake.input):
    receipt = json.loads(Path(snakemake.input.receipt).read_text(encoding="utf-8"))
    scorer, cache_dir = judged_scorer(snakemake.params.scorer), snakemake.params.cache_dir
    score_judged_answers(snakemake.input.asked, receipt, scorer, cache_dir, snakemake.output[0])
