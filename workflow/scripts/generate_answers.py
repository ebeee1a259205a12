"""Fill the answer store with one shard of a retriever's answers; the output is a receipt."""

from functools import partial
from pathlib import Path

from ragrelay.files import write_json
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.fingerprint import checked_start
from ragrelay.generation.job import fill_store
from ragrelay.generation.layout import Layout
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore
from ragrelay.jobs import job_log
from ragrelay.prompts import Template

with job_log(snakemake.log[0]):
    params = snakemake.params

    def start(generator, window):
        engine = partial(VllmEngine, generator, window, snakemake.threads)
        return checked_start(generator, params.fingerprint, engine, params.cache_dir)

    contexts = snakemake.input.get("contexts")
    receipt = fill_store(
        asked_keys(
            [Path(path) for path in snakemake.input.prompts],
            params.seeds,
            int(snakemake.wildcards.shard),
            params.shards,
        ),
        AnswerStore(params.cache_dir, params.fingerprint),
        params.generator,
        Layout(Template(**params.template), Path(snakemake.input.queries), Path(contexts) if contexts else None),
        start,
    )
    write_json(receipt, snakemake.output.receipt)
