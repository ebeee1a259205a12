"""Measure annotation sources' agreement with human labels, and combine all labels into estimates over all queries."""

import polars as pl
from ragrelay.annexes.labels.people import Labelled, Labellers, measure_agreement
from ragrelay.annexes.labels.study_labels import made_tables
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.columns import named
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    made = made_tables(keyed_files(params.patterns, inputs), params.annotations, params.names, snakemake.wildcards)
    trust = measure_agreement(
        Labelled(*(pl.read_parquet(inputs[name]) for name in Labelled._fields)),
        Labellers(params.annotations, params.names, made),
        agreement=params.agreement,
        lowest_grade=params.lowest_grade,
    )
    for name, table in trust._asdict().items():
        write_csv(named(table, snakemake.wildcards), snakemake.output[f"label_{name}"])
