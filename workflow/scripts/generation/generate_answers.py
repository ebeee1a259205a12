"""Generate one shard of all retrievers' answers and store them, or only count the missing ones.

The output is a receipt or the count.
"""

from functools import partial
from pathlib import Path
from typing import Any

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_use import in_use
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.study_file import MISSING_KEYS
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.engine_use import counted
from ragrelay.generation.fingerprint import checked_start
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.job import generate_answers
from ragrelay.generation.missing_work import checked_engine, count_missing, no_engine
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted(snakemake.log[0], snakemake.resources.get("gpu", 0)),
    in_use(snakemake.params.cache_dir),
):
    params = snakemake.params

    def start(generator: Any, window: int | None) -> Any:
        kind: Any = GENERATOR_KINDS[generator["engine"]]
        engine = partial(kind.start, generator, window, snakemake.threads)
        return checked_start(generator, params.fingerprint, engine, params.cache_dir)

    inputs, shard = snakemake.input, int(snakemake.wildcards.shard)
    files = keyed_files(params.patterns, inputs)
    contexts = files.pop("contexts").by("retriever") if "contexts" in files else {}
    grouped = (keyed.grouped("retriever") for keyed in files.values())
    prompts = {retriever: paths for each in grouped for retriever, paths in each.items()}
    asked = asked_keys(prompts, params.seeds, shard, params.shards)
    store = AnswerStore(params.cache_dir, params.fingerprint)

    def make(start_engine: Any) -> dict[str, Any]:
        layout = Layout(Template(**params.template), Path(inputs.queries), contexts)
        leaves_out = params.get("leaves_out", False)
        return generate_answers(asked, store, params.generator, layout, start_engine, leaves_out)

    if snakemake.output.get(MISSING_KEYS):
        made = count_missing(partial(make, no_engine), lambda: len(asked) - len(store.held(asked)))
    else:
        made = make(checked_engine(start, inputs.get(MISSING_KEYS, []), snakemake.resources.get("gpu", 0)))
    write_json(made, snakemake.output[0])
