"""Pool utility, retrieval measures and contexts across all sections, for the study's overall conclusions.

params: sections (dataset, generator, scorer, primary), patterns, kinds (the retrievers' kinds), margins (the scorers').
"""

import polars as pl
from ragrelay.analysis.panel_verdicts import without_parts
from ragrelay.analysis.pooled import Sample, pool_samples
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import CONTEXT, read_answers

COLUMNS = ["retriever", "ordering", "k", "references", "qid", "p", "p0"]

with job_log(snakemake.log[0], snakemake.input):
    params, files = snakemake.params, keyed_files(snakemake.params.patterns, snakemake.input)
    sections = [section for section in params.sections if section["primary"]]
    samples = []
    for dataset, scorer in dict.fromkeys((section["dataset"], section["scorer"]) for section in sections):
        own = [section for section in sections if (section["dataset"], section["scorer"]) == (dataset, scorer)]
        retrieval = files["retrieval"].matching(dataset=dataset).by("retriever")
        # If there are several templates, a context has the passages that any of their prompts shows.
        shown = read_answers(files["prompts"].matching(dataset=dataset), ["qid", "docnos"])
        samples.append(
            Sample(
                dataset,
                scorer,
                Primary(**own[0]["primary"]),
                {
                    section["generator"]: pl.scan_parquet(files["utility"].of(section))
                    .filter(pl.col("retriever") != ZEROSHOT)
                    .select(COLUMNS)
                    .collect()
                    for section in own
                },
                pl.concat(
                    [
                        pl.read_parquet(path).select(pl.lit(name).alias("retriever"), "*")
                        for name, path in retrieval.items()
                    ]
                ),
                shown.group_by(*CONTEXT, "qid", maintain_order=True).agg(
                    pl.col("docnos").list.explode(keep_nulls=False, empty_as_null=False)
                ),
                numbered_clusters(files["clusters"].by("dataset").get(dataset)),
            )
        )
    write_csv(without_parts(pool_samples(samples, params.kinds, params.margins)), snakemake.output[0])
