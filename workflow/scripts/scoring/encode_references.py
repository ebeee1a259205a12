"""Prepare and cache a dataset's references for a scorer, or only count the work. Output: a receipt or the count."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.reference_sets import read_gold, read_references
from ragrelay.scoring.scorer import make_scorer

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted_work(snakemake),
):
    read_texts = read_gold if snakemake.params.scorer.get("references") == "gold" else read_references
    queries = read_texts(snakemake.input.references)
    scorer = make_scorer(snakemake.params.scorer, snakemake.params.cache_dir, snakemake.threads)
    write_json(scorer.prepare([text for query in queries.values() for text in query.texts]), snakemake.output[0])
