"""The tables of a claims study: pairs with their characteristics, ACU by stance, correlations."""

from ragrelay.claims.tables import analyse_claims
from ragrelay.io.atomic_files import write_csv
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    params = snakemake.params
    tables = analyse_claims(
        params.units,
        snakemake.input.pairs,
        dict(zip(params.claims, snakemake.input.characteristics, strict=True)),
        params.resamples,
        params.seed,
    )
    for name, table in tables._asdict().items():
        write_csv(table, snakemake.output[f"acu_{name}"])
