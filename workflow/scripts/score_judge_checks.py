"""Scores of the answers or passages that were judged again, from a judge's probabilities."""

import json
from pathlib import Path

from ragrelay.annotations.source import SOURCE_KINDS
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.judging.check_scores import score_judge_checks
from ragrelay.scoring.scorer import SCORER_KINDS

with job_log(snakemake.log[0], snakemake.input):
    given, params = snakemake.input, snakemake.params
    receipt = json.loads(Path(given.receipt).read_text(encoding="utf-8"))
    judge = {"scorers": SCORER_KINDS, "annotations": SOURCE_KINDS}[params.section].of(params.judge)
    scores = score_judge_checks(given.asked, receipt, judge.score(), params.cache_dir)
    write_parquet(scores, snakemake.output[0])
