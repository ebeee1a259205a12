"""Gather provenance and counts of the data left out, for the report."""

from pathlib import Path

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.data_hashes import data_hashes
from ragrelay.report.display.outputs import resolve
from ragrelay.report.provenance import gather_left_out, gather_provenance, primary_origin
from ragrelay.report.used import Benchmarks

# The stage that each of the core's groups of counts belongs to.
STAGES = {
    "collection": "collection",
    "references": "collection",
    "runs": "runs",
    "contexts": "contexts",
    "answers": "answers",
    "nuggets": "nuggets",
    "scores": "scoring",
}

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    files = keyed_files(params.patterns, snakemake.input)
    results = Path(snakemake.output.provenance).parents[1]
    provenance = gather_provenance(params.config, params.fingerprints, files["receipts"], Benchmarks(**params.used))
    provenance["data"] = {
        dataset: data_hashes(results, dataset, params.config, map(resolve, params.hashes))
        for dataset in params.config["grid"]["datasets"]
    }
    provenance |= {name: read_json(snakemake.input[name]) for name in params.records}
    provenance["primary"] = primary_origin(params.primary, provenance["jobs"])
    counts = [(stage, files[f"of_{name}"]) for name, stage in (STAGES | params.stages).items()]
    left_out = gather_left_out(counts, files["receipts"], files["lengths"])
    write_json(provenance, snakemake.output.provenance)
    write_json(left_out, snakemake.output.left_out)
