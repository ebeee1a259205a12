"""Read scores of a generator's answers from a user's file."""

from pathlib import Path

from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.io.keyed_files import of_pattern
from ragrelay.scoring.filed_scores import filed_scores
from ragrelay.scoring.score_files import ScoreCells, ScoreScale, placed_scores, read_score_rows
from ragrelay.workflow.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, params, made = snakemake.input, snakemake.params, snakemake.output
    scored = ScoreScale(tuple(params.scorer["scale"]), params.scorer.get("measure"))
    rows = placed_scores(read_score_rows(Path(inputs.file), scored), ScoreCells(**params.cells))
    answers = of_pattern(params.patterns["answers"], [*inputs.answers, *inputs.zeroshot])
    tables, counts = filed_scores(
        inputs.file, rows, answers, snakemake.wildcards.generator, params.scorer["references"], params.retrievers
    )
    for path, name in zip(made.scores, params.retrievers, strict=True):
        write_parquet(tables[name], path)
    write_json(counts, made.left_out[0])
