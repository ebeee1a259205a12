"""ACU of every claim and evidence under one generator and template, from the store of likelihoods."""

import json
from pathlib import Path

import polars as pl
from ragrelay.claims.pairs import compute_acu
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log
from ragrelay.likelihoods.store import LikelihoodStore

with job_log(snakemake.log[0], snakemake.input):
    receipt = json.loads(Path(snakemake.input.receipt).read_text(encoding="utf-8"))
    stores = [
        LikelihoodStore(snakemake.params.cache_dir, receipt[part]["fingerprint"]) for part in ("prompts", "evidence")
    ]
    pairs = compute_acu(
        pl.read_parquet(snakemake.input.claims),
        pl.read_parquet(snakemake.input.asked),
        snakemake.wildcards.template,
        *stores,
    )
    write_parquet(pairs, snakemake.output[0])
