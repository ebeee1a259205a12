"""Provenance and counts of what was left out, for the report."""

from pathlib import Path

from ragrelay.io.atomic_files import write_json
from ragrelay.jobs.scripts import job_log
from ragrelay.report.provenance import gather_left_out, gather_provenance

with job_log(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    # Snakemake doesn't tell a script where benchmark files are; they stand where the Snakefile puts them.
    benchmarks = Path(snakemake.output.provenance).parents[1] / "benchmarks"
    provenance = gather_provenance(params.config, params.fingerprints, files.receipts, params.receipts, benchmarks)
    stages = zip(params.stages, params.stage_keys, files.left_out, strict=True)
    write_json(provenance, snakemake.output.provenance)
    write_json(gather_left_out(list(stages), files.receipts, params.receipts, files.answers), snakemake.output.left_out)
