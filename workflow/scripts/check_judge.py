"""Ask a judge about some changed answers; its probabilities go into their store, the outputs say what was asked."""

from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log
from ragrelay.judging.asked import judging
from ragrelay.judging.check_job import check_judge
from ragrelay.judging.templates import JudgeTemplate
from ragrelay.scoring.judged_scorer import judged_scorer

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    given, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, given)
    scorer, template = judged_scorer(params.scorer), JudgeTemplate(**params.template)
    asked, receipt = check_judge(
        files["answers"],
        files["prompts"],
        contexts=files["contexts"].by("retriever"),
        by=judging(scorer, template, given.queries, given.references, given.own, params.grades, params.near_copy),
        size=params.size,
        generator=params.generator,
        fingerprint=params.fingerprint,
        cache_dir=params.cache_dir,
        threads=snakemake.threads,
    )
    write_parquet(asked, snakemake.output.asked)
    write_json(receipt, snakemake.output.receipt)
