"""Compute retrieval measures for the ranking in the prompts, and count what its contexts left out at the grid's k.

params: measures, ks, relevant (the lowest label that counts as relevant in binary measures), subtopic_level (the same
for subtopics), empty (how queries without results count: `zero`, `left_out`, or None if the retriever may leave queries
out), identical_ids (whether to warn about queries whose context contains the passage with their id).
"""

import polars as pl
from ragrelay.base.display.terminal import tell_warnings
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.base.vocabulary.subtopic_measures import count_unmeasured, measure_all
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.retrieval.contexts import context_warnings, count_left_out
from ragrelay.retrieval.trec import count_ties, read_ranks

with job_log(snakemake.log[0], snakemake.input):
    files, params = snakemake.input, snakemake.params
    contexts, queries = pl.read_parquet(files.contexts), pl.read_parquet(files.queries)
    qids = queries["qid"].to_list() if params.empty == "zero" else ()
    qrels, subtopics = pl.read_parquet(files.qrels), pl.read_parquet(files.subtopics[0]) if files.subtopics else None
    levels = params.relevant, params.subtopic_level
    values = measure_all(contexts, qrels, subtopics, params.measures, params.ks, levels, qids)
    write_parquet(values, snakemake.output.values)
    dataset, retriever = snakemake.wildcards.dataset, snakemake.wildcards.retriever
    tables = contexts, pl.read_parquet(files.skipped), queries, params.ks
    sentences = context_warnings(*tables, f"{dataset}/contexts/{retriever}", params.empty)
    left_out = [row | sentences.get(row["what"], {}) for row in count_left_out(*tables, params.identical_ids)]
    left_out += count_unmeasured(queries, subtopics)
    for path in files.runs:
        left_out += count_ties(read_ranks(path), queries, params.ks, params.ranked_by)
    tell_warnings(f"dataset {dataset}, retriever {retriever}", left_out)
    write_json(left_out, snakemake.output.left_out)
