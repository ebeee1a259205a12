"""Score one shard of all answers of a generator, into the score store, with one model. The output is a receipt."""

from functools import partial

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_use import in_use
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.scoring.answer_cells import AnswerCells
from ragrelay.scoring.query_scores import fill_scores
from ragrelay.workflow.jobs.scripts import job_log

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    in_use(snakemake.params.cache_dir),
):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    cells = {ZEROSHOT: partial(AnswerCells, files["zeroshot"].by("ordering", "k", "seed"), {})}
    for retriever in files["answers"].grouped("retriever"):
        answers, prompts = (files[name].matching(retriever=retriever) for name in ("answers", "prompts"))
        cells[retriever] = partial(AnswerCells, answers.by("ordering", "k", "seed"), prompts.by("ordering", "k"))
    receipt = fill_scores(
        cells,
        inputs.references,
        params.scorer,
        cache_dir=params.cache_dir,
        threads=snakemake.threads,
        shard=int(snakemake.wildcards.shard),
        shards=params.shards,
    )
    write_json(receipt, snakemake.output[0])
