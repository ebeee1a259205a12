"""Score one shard of a generator's answers with a model and store the scores, or only count the missing ones.

The output is a receipt or the count. The answers may also come from a table, whose scores another job then looks up.
"""

from functools import partial
from typing import Any

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_use import in_use
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.study_file import MISSING_KEYS
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.answer_cells import AnswerCells
from ragrelay.scoring.query_scores import count_scores, fill_scores
from ragrelay.scoring.table_answers import TableAnswers

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    in_use(snakemake.params.cache_dir),
):
    inputs, params = snakemake.input, snakemake.params
    if inputs.get("table"):
        cells: dict[str, Any] = {"": partial(TableAnswers, inputs.table, columns=["qid"])}
    else:
        files = keyed_files(params.patterns, inputs)
        cells = {ZEROSHOT: partial(AnswerCells, files["zeroshot"].by("ordering", "k", "seed"), {})}
        for retriever in files["answers"].grouped("retriever"):
            answers, prompts = (files[name].matching(retriever=retriever) for name in ("answers", "prompts"))
            cells[retriever] = partial(AnswerCells, answers.by("ordering", "k", "seed"), prompts.by("ordering", "k"))
    scored = {
        "scorer": params.scorer,
        "cache_dir": params.cache_dir,
        "shard": int(snakemake.wildcards.get("shard", 0)),
        "shards": params.get("shards", 1),
    }
    if snakemake.output.get(MISSING_KEYS):
        made = {MISSING_KEYS: count_scores(cells, inputs.references, **scored)}
    else:
        with counted_work(snakemake):
            made = fill_scores(cells, inputs.references, threads=snakemake.threads, **scored)
    write_json(made, snakemake.output[0])
