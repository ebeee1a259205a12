"""Describe what processors changed in a dataset's contexts, and count the tokens of a generator's prompts."""

import polars as pl
from ragrelay.annexes.processing.effects import describe_processing
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers

with job_log(snakemake.log[0], snakemake.input):
    files, bases = keyed_files(snakemake.params.patterns, snakemake.input), snakemake.params.bases
    before, after, receipts = (files[name].by("retriever") for name in ("before", "after", "receipts"))
    table = describe_processing(
        {name: (pl.read_parquet(before[bases[name]]), pl.read_parquet(path)) for name, path in after.items()},
        bases,
        snakemake.params.ks,
        read_answers(files["answers"], ["qid", "prompt_tokens"]),
        {name: read_json(path)["same_again"] for name, path in receipts.items()},
    )
    write_csv(named(table, snakemake.wildcards), snakemake.output.processing)
