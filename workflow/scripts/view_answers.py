"""Answer files of all of a retriever's cells, from the store."""

from pathlib import Path

from ragrelay.generation.answer_views import write_views
from ragrelay.generation.store import AnswerStore
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    seeds = snakemake.params.seeds
    prompts = [Path(path) for path in snakemake.input.prompts]
    places = [(place, seed) for place in range(len(prompts)) for seed in seeds]
    write_views(
        prompts,
        seeds,
        AnswerStore(snakemake.params.cache_dir, snakemake.params.fingerprint),
        dict(zip(places, map(Path, snakemake.output), strict=True)),
        thinking=snakemake.params.thinking,
    )
