"""Describe a generator's answers on a dataset: lengths, finish reasons and cost."""

import polars as pl
from ragrelay.analysis.cost import answer_cost
from ragrelay.analysis.lengths import answer_lengths, check_answered
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import of_pattern
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers
from ragrelay.generation.store import AnswerStore

COLUMNS = ["qid", "prompt_id", "seed", "answer", "finish_reason", "answer_tokens"]

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    answers = read_answers(of_pattern(params.patterns["answers"], [*inputs.answers, *inputs.zeroshot]), COLUMNS)
    check_answered(answers, "answers of generator {generator} to {dataset}".format(**snakemake.wildcards))
    write_csv(named(answer_lengths(answers), snakemake.wildcards), snakemake.output.lengths)
    keys = answers.select(pl.col("retriever"), "k", "prompt_id", "seed")
    store = AnswerStore(params.cache_dir, params.fingerprint)
    cost = answer_cost(keys, store, params.devices)
    write_csv(named(cost, snakemake.wildcards), snakemake.output.cost)
