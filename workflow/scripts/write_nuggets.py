"""Have a generator write one shard's lists of nuggets; its texts go into their stores, the output is a receipt."""

from ragrelay.io.atomic_files import write_json
from ragrelay.jobs.scripts import job_log
from ragrelay.nuggets.job import write_nuggets
from ragrelay.nuggets.prompts import NuggetTemplate
from ragrelay.nuggets.topics import read_topics
from ragrelay.nuggets.writing import Limits

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    params, given = snakemake.params, snakemake.input
    shard = int(snakemake.wildcards.shard)
    receipt = write_nuggets(
        read_topics(given.queries, given.passages, **params.passages, shard=shard, shards=params.shards),
        NuggetTemplate(**params.template),
        Limits(**params.limits),
        params.generator,
        params.fingerprint,
        params.cache_dir,
        snakemake.threads,
    )
    write_json(receipt, snakemake.output.receipt)
