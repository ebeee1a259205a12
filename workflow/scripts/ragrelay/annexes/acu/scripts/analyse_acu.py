"""Compute the tables of a claims study: pairs with characteristics, ACU by stance, and correlations."""

from ragrelay.annexes.acu.tables import analyse_acu
from ragrelay.base.io.atomic_files import write_csv, write_spreadsheet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)
    claims, characteristics = (files[name].by("claims") for name in ("claims", "characteristics"))
    tables = analyse_acu(files["pairs"], claims, characteristics, **params.draws)
    for name, table in tables._asdict().items():
        # Only people read the table of pairs, which has ids and sources. Scripts read the others again.
        write = write_spreadsheet if name == "pairs" else write_csv
        write(table, snakemake.output[f"acu_{name}"])
