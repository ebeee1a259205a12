"""The lists of nuggets that a generator wrote, from the stores."""

from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.nuggets.job import view_nuggets
from ragrelay.nuggets.lists import left_out
from ragrelay.nuggets.prompts import NuggetTemplate
from ragrelay.nuggets.topics import read_topics
from ragrelay.nuggets.writing import Limits

with job_log(snakemake.log[0], snakemake.input):
    params, given, made = snakemake.params, snakemake.input, snakemake.output
    topics = read_topics(given.queries, given.passages, **params.passages)
    nuggets, counts = view_nuggets(
        topics,
        NuggetTemplate(**params.template),
        Limits(**params.limits),
        params.generator,
        params.fingerprint,
        params.cache_dir,
    )
    write_parquet(nuggets, made.nuggets)
    write_json(left_out(nuggets, [topic.qid for topic in topics], written=counts), made.left_out)
