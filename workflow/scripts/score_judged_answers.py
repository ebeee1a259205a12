"""Score table of one retriever's answers from a judge's probabilities, and how many have no score."""

import json
from pathlib import Path

from ragrelay.io.atomic_files import write_json
from ragrelay.jobs.scripts import job_log
from ragrelay.judging.job import score_judged_answers
from ragrelay.scoring.judged_scorer import judged_scorer

with job_log(snakemake.log[0], snakemake.input):
    given, made = snakemake.input, snakemake.output
    receipt = json.loads(Path(given.receipt).read_text(encoding="utf-8"))
    scorer, cache_dir = judged_scorer(snakemake.params.scorer), snakemake.params.cache_dir
    write_json(score_judged_answers(given.asked, receipt, scorer, cache_dir, made.scores), made.left_out)
