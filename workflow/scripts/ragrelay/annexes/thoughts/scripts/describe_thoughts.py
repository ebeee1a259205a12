"""Describe the length of a generator's thoughts about a dataset's queries, and compare contexts."""

from ragrelay.annexes.thoughts.lengths import TOKENS, describe_thoughts
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import of_pattern
from ragrelay.base.vocabulary.columns import named
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import read_answers

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    answers = read_answers(of_pattern(params.patterns["answers"], [*inputs.answers, *inputs.zeroshot]), TOKENS)
    clusters = numbered_clusters(*inputs.clusters or [None])
    for name, table in describe_thoughts(answers, params.base, clusters, params.budget).items():
        write_csv(named(table, snakemake.wildcards), snakemake.output[name])
