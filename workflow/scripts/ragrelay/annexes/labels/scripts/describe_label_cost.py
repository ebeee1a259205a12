"""Compare the cost of labelling passages one by one with the cost of end-to-end answers."""

import polars as pl
from ragrelay.annexes.labels.cost import EACH, END_TO_END, cost_by_k, describe_label_cost
from ragrelay.annexes.labels.single_answers import PASSAGE
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers
from ragrelay.generation.past_jobs import speed_of
from ragrelay.generation.store import KEY, AnswerStore

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    single = pl.read_parquet(inputs.single, columns=[*PASSAGE, *KEY])
    whole = read_answers(keyed_files(params.patterns, inputs)["answers"], KEY)
    store = AnswerStore(params.cache_dir, params.fingerprint)
    of_one = single.select(pl.lit(1, pl.Int64).alias("k"), *KEY)
    cost = describe_label_cost({EACH: of_one, END_TO_END: whole}, store, params.devices)
    ranks = pl.concat(pl.read_parquet(path, columns=[*PASSAGE, "rank"]) for path in inputs.contexts)
    ranked = single.join(ranks.group_by(PASSAGE).agg(pl.col("rank").min()), on=PASSAGE)
    write_csv(named(cost, snakemake.wildcards), snakemake.output.label_cost)
    write_csv(
        named(cost_by_k(ranked, whole, store, speed_of(store)), snakemake.wildcards), snakemake.output.label_cost_by_k
    )
