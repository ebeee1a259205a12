"""Fill the store of likelihoods with those of a set of claims; the outputs are a receipt, and which keys are whose."""

import polars as pl
from ragrelay.claims.job import score_claims
from ragrelay.claims.requests import Asked
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)["prompts"].by("template")
    prompts = {template: pl.read_parquet(path) for template, path in files.items()}
    asked = Asked(pl.read_parquet(snakemake.input.claims), prompts, params.generator)
    receipt = score_claims(asked, params.generator, params.fingerprint, params.cache_dir, snakemake.threads)
    write_parquet(asked.keys(), snakemake.output.asked)
    write_json(receipt, snakemake.output.receipt)
