"""Read the scores of a generator's answers from a user's file."""

from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.io.keyed_files import of_pattern
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.filed_scores import read_scores

with job_log(snakemake.log[0], snakemake.input):
    inputs, params, made = snakemake.input, snakemake.params, snakemake.output
    answers = of_pattern(params.patterns["answers"], [*inputs.answers, *inputs.zeroshot])
    paths = of_pattern(params.patterns["scores"], made.scores).by("retriever")
    generator = snakemake.wildcards.generator
    tables, counts = read_scores(inputs.file, params.scorer, params.cells, answers, generator, list(paths))
    for name, path in paths.items():
        write_parquet(tables[name], path)
    write_json(counts, made.left_out[0])
