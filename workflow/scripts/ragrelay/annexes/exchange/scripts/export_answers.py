"""Export a generator's answers for one dataset, in other programs' formats."""

import polars as pl
from ragrelay.annexes.exchange.export import export_answers
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    inputs, made, params = snakemake.input, snakemake.output, snakemake.params
    patterns = params.patterns
    files = keyed_files({name: patterns[name] for name in ("prompts", "answers", "passages")}, inputs)
    texts = pl.concat(pl.read_parquet(path, columns=["docno", "text"]) for path in inputs.passages)
    export_answers(
        queries=pl.read_parquet(inputs.queries, columns=["qid", "query"]),
        texts=dict(texts.unique("docno").iter_rows()),
        prompts=files["prompts"],
        answers=files["answers"],
        outputs=keyed_files({name: patterns[name] for name in ("trec_rag", "pyterrier")}, made),
        whole={"jsonl": made.jsonl, "parquet": made.parquet},
        about=params.about,
        passages=files["passages"].by("retriever"),
    )
