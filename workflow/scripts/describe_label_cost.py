"""Cost of labelling passages one by one, compared with end-to-end answers."""

import polars as pl
from ragrelay.annotations.cost import EACH, END_TO_END, describe_label_cost
from ragrelay.generation.answer_files import read_answers
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.io.atomic_files import write_csv
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log
from ragrelay.vocabulary.columns import named

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    single = pl.read_parquet(snakemake.input.single, columns=KEY).with_columns(pl.lit(1, pl.Int64).alias("k"))
    whole = read_answers(keyed_files(params.patterns, snakemake.input)["answers"], KEY)
    store = AnswerStore(params.cache_dir, params.fingerprint)
    cost = describe_label_cost({EACH: single, END_TO_END: whole}, store, params.devices)
    write_csv(named(cost, snakemake.wildcards), snakemake.output[0])
