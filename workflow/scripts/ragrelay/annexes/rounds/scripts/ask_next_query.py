"""Build the prompts that ask a model for the next round's queries, given the passages shown so far."""

import polars as pl
from ragrelay.annexes.rounds.prompts import ask_next_query
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    shown = pl.read_parquet(inputs.prompts)
    texts = open_collection(params.dataset).texts(shown["docnos"].explode().drop_nulls().unique().sort().to_list())
    questions = pl.read_parquet(inputs.questions)
    requests = ask_next_query(questions, shown, texts, Template(**params.template), params.seeds)
    write_parquet(requests, snakemake.output[0])
