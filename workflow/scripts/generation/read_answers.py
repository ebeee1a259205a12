"""Write the answer files for all of a retriever's cells from imported answers."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.imported.cell_files import read_answers

with job_log(snakemake.log[0], snakemake.input):
    inputs, made, params = snakemake.input, snakemake.output, snakemake.params
    files = keyed_files(params.patterns, made)
    left_out = read_answers(
        params.imported,
        snakemake.wildcards,
        open_collection(params.dataset),
        inputs.queries,
        files["prompts"].by("ordering", "k"),
        files["answers"].by("ordering", "k", "seed"),
        (inputs.contexts, inputs.qrels, made.passages) if inputs.get("contexts") else None,
    )
    write_json(left_out, made.left_out)
