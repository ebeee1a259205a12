"""Compare scorers with human scores of a dataset's answers."""

from pathlib import Path

from ragrelay.annexes.people.compare import answers_of, compare_people, measures_of, scores_of
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.score_files import ScoreCells, ScoreScale, placed_scores, read_score_rows

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    scored = ScoreScale(tuple(params.scorer["scale"]), params.scorer.get("measure"))
    tables = compare_people(
        placed_scores(read_score_rows(Path(inputs.file), scored), ScoreCells(**params.cells)),
        answers_of(files["answers"]),
        scores_of(files["scores"], params.references),
        params.people,
        [(first, other) for first, other in params.pairs],
        measures_of(files["measures"], params.measure),
        numbered_clusters(*inputs.clusters or [None]),
    )
    for name, table in tables.items():
        write_csv(named(table, snakemake.wildcards), snakemake.output[name])
