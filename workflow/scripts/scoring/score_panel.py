"""Average the scores that a panel's judges give one retriever's answers. params: patterns, judges (to average over)."""

import polars as pl
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.io.keyed_files import of_pattern
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.panel_scores import score_panel

with job_log(snakemake.log[0], snakemake.input):
    paths = of_pattern(snakemake.params.patterns["scores"], snakemake.input.scores).by("scorer")
    scores, counts = score_panel({name: pl.read_parquet(path) for name, path in paths.items()}, snakemake.params.judges)
    write_parquet(scores, snakemake.output.scores)
    write_json(counts, snakemake.output.left_out)
