"""Count the requests of jobs that generate answers."""

from collections.abc import Mapping, Sequence

import polars as pl

from ragrelay.generation.prefixes import SCHEMA as LENGTHS
from ragrelay.generation.prefixes import block_tokens, prompt_lengths
from ragrelay.generation.requests import asked_keys, window_of
from ragrelay.generation.store import KEY
from ragrelay.planning.generator_plan import GeneratorPlan
from ragrelay.planning.work import Job, work
from ragrelay.prompting.truncation import Layout

SINGLE = "generate_single_answers"
"""Each passage alone before the generator, for labels; no cells of the grid."""


def answer_work(job: Job, generators: Mapping[str, GeneratorPlan], seeds: Sequence[int]) -> pl.DataFrame:
    """Return WORK for the answers of a retriever's cells, of zero-shot's, or to single passages.

    Raises InputError where a prompt doesn't fit the window.
    """
    planned = generators[job.generator]
    prompts = prompt_files(job, planned)
    [queries] = job.paths("queries", dataset=job.dataset)
    contexts = job.paths("contexts", dataset=job.dataset, retriever=job.retriever)
    layout = Layout(planned.template, queries, contexts[0] if contexts else None)
    shards = [asked_keys(prompts, seeds, shard, job.shards) for shard in range(job.shards)]
    asked = pl.concat([shard.with_columns(part=pl.lit(number, pl.Int64)) for number, shard in enumerate(shards)])
    missing = asked.join(planned.store.held(asked), on=KEY, how="anti", maintain_order="left")
    lengths = _lengths(missing, planned, layout).join(missing.select(KEY), on="prompt_id", maintain_order="right")
    first = pl.int_range(pl.len()).over("prompt_id") == 0
    made = lengths.select(
        "prompt_id",
        "prompt_tokens",
        item=pl.col("seed").cast(pl.String),
        requests=pl.lit(1, pl.Int64),
        shared_tokens=pl.when(first).then("shared_first").otherwise("shared_again"),
        answer_tokens=pl.lit(planned.pace.answer_tokens),
    )
    keys = asked.select(
        "prompt_id",
        "part",
        item=pl.col("seed").cast(pl.String),
        store=pl.lit(f"answers/{planned.store.folder.name}"),
        certain=pl.lit(True),
    )
    return work(keys, made)


def prompt_files(job: Job, planned: GeneratorPlan) -> list:
    """Return the prompt files of a generation job, in the order in which it asks."""
    template = planned.generator["prompt"]
    if job.rule == SINGLE:
        return job.paths("single", dataset=job.dataset, template=template)
    return job.prompts(template, job.retriever)


def _lengths(missing: pl.DataFrame, planned: GeneratorPlan, layout: Layout) -> pl.DataFrame:
    if missing.is_empty():
        return pl.DataFrame(schema=LENGTHS)
    generator = planned.generator
    block = block_tokens(generator, planned.pace.device)
    return prompt_lengths(missing, generator, window_of(generator), layout, block, planned.threads)
