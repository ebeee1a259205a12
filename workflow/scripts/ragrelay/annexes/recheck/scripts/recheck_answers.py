"""Regenerate and compare some of a generator's stored answers, or only count the answers for the plan."""

from functools import partial
from pathlib import Path
from typing import Any

from ragrelay.annexes.recheck.job import recheck_answers
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.io.cache_use import in_use
from ragrelay.base.io.keyed_files import keyed_files, of_pattern
from ragrelay.base.vocabulary.study_file import MISSING_KEYS
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.engine_use import counted
from ragrelay.generation.fingerprint import checked_start
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.missing_work import checked_engine, count_missing, no_engine
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted(snakemake.log[0], snakemake.resources.get("gpu", 0)),
    in_use(snakemake.params.cache_dir),
):
    inputs, params = snakemake.input, snakemake.params

    def start(generator: Any, window: int | None) -> Any:
        kind: Any = GENERATOR_KINDS[generator["engine"]]
        engine = partial(kind.start, generator, window, snakemake.threads)
        return checked_start(generator, params.fingerprint, engine, params.cache_dir)

    contexts = keyed_files({"contexts": params.patterns["contexts"]}, inputs)["contexts"].by("retriever")

    def make(start_engine: Any) -> tuple[Any, dict[str, Any]]:
        return recheck_answers(
            of_pattern(params.patterns["prompts"], [*inputs.zeroshot, *inputs.prompts]),
            params.seeds,
            AnswerStore(params.cache_dir, params.fingerprint),
            params.generator,
            Layout(Template(**params.template), Path(inputs.queries), contexts),
            params.answers,
            start_engine,
        )

    if snakemake.output.get(MISSING_KEYS):
        write_json(count_missing(partial(make, no_engine), lambda: params.answers), snakemake.output.missing)
    else:
        answers, receipt = make(checked_engine(start, inputs.get(MISSING_KEYS, []), snakemake.resources.get("gpu", 0)))
        write_parquet(answers, snakemake.output.answers)
        write_json(receipt, snakemake.output.receipt)
