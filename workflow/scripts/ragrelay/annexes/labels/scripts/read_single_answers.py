"""Read imported answers to single passages."""

import polars as pl
from ragrelay.analysis.lengths import check_answered
from ragrelay.annexes.labels.file_labels import ranked_passages
from ragrelay.annexes.labels.single_answers import COLUMNS
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.imported.passage_answers import checked_passages, read_single_answers

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    answers, left_out = read_single_answers(
        checked_passages(**params.imported, collection=open_collection(params.dataset)),
        pl.read_parquet(inputs.queries, columns=["qid"])["qid"].to_list(),
        ranked_passages(inputs.contexts, params.depth),
        params.imported["seeds"],
        f"answers to single passages of generator {snakemake.wildcards.generator}",
    )
    check_answered(answers, f"answers to single passages of generator {snakemake.wildcards.generator}")
    empty = pl.DataFrame(schema=schema_of(COLUMNS))
    write_parquet(pl.concat([empty, answers], how="diagonal"), snakemake.output.answers)
    write_json(left_out, snakemake.output.left_out)
