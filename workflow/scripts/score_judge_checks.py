"""Scores of the answers that were judged again, from a judge's probabilities."""

import json
from pathlib import Path

from ragrelay.jobs.scripts import job_log
from ragrelay.judging.check_job import score_judge_checks
from ragrelay.scoring.judged_scorer import judged_scorer

with job_log(snakemake.log[0], snakemake.input):
    receipt = json.loads(Path(snakemake.input.receipt).read_text(encoding="utf-8"))
    scorer, cache_dir = judged_scorer(snakemake.params.scorer), snakemake.params.cache_dir
    score_judge_checks(snakemake.input.asked, receipt, scorer, cache_dir, snakemake.output[0])
