"""Send all requests of a question's job, part by part, and store the replies. The output is a receipt."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_use import in_use
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.engine_use import counted
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.questions.parts import ask_parts

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    counted(snakemake.log[0], snakemake.resources.get("gpu", 0)),
    in_use(snakemake.params.cache_dir),
):
    params = snakemake.params
    asker = EngineAsker(params.generator, params.fingerprint, params.cache_dir, snakemake.threads)
    receipt = ask_parts(params.question, dict(snakemake.input.items()), params.parts, asker)
    write_json(receipt, snakemake.output.receipt)
