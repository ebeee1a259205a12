"""Score one shard of all answers of a generator, into the score store, with one model, or count the missing scores.

The output is a receipt, or the count.
"""

from functools import partial

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_use import in_use
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.io.missing_counts import check_counted
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.study_file import MISSING_KEYS
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.answer_cells import AnswerCells
from ragrelay.scoring.query_scores import count_scores, fill_scores

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
    scored = {
        "scorer": params.scorer,
        "cache_dir": params.cache_dir,
        "shard": int(snakemake.wildcards.shard),
        "shards": params.shards,
    }
    if snakemake.output.get(MISSING_KEYS):
        made = {MISSING_KEYS: count_scores(cells, inputs.references, **scored)}
    else:
        counts = list(inputs.get(MISSING_KEYS, []))
        before = partial(check_counted, counts, snakemake.resources.get("gpu", 0)) if counts else None
        made = fill_scores(cells, inputs.references, threads=snakemake.threads, before_scoring=before, **scored)
    write_json(made, snakemake.output[0])
