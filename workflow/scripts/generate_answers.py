"""Generate one shard of a retriever's answers into the answer store. The output is a receipt."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ragrelay.generation.fingerprint import checked_start
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore
from ragrelay.io.atomic_files import write_json
from ragrelay.jobs.engine_use import counted
from ragrelay.jobs.scripts import job_log
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted(snakemake.log[0], snakemake.resources.get("gpu", 0)),
):
    params = snakemake.params

    def start(generator: Mapping[str, Any], window: int | None) -> Any:
        kind: Any = GENERATOR_KINDS[generator["engine"]]
        engine = partial(kind.start, generator, window, snakemake.threads)
        return checked_start(generator, params.fingerprint, engine, params.cache_dir)

    contexts = [Path(path) for path in snakemake.input.get("contexts", [])]
    prompts = [*snakemake.input.prompts, *snakemake.input.get("with_context", [])]
    receipt_file, shard = snakemake.output.receipt, int(snakemake.wildcards.shard)
    receipt = generate_answers(
        asked_keys([Path(path) for path in prompts], params.seeds, shard, params.shards),
        AnswerStore(params.cache_dir, params.fingerprint),
        params.generator,
        Layout(Template(**params.template), Path(snakemake.input.queries), contexts),
        start,
    )
    write_json(receipt, receipt_file)
