"""Count the requests of a question's job whose replies aren't stored yet. The output is the count."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_use import in_use
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.missing_work import count_requests
from ragrelay.questions.parts import ask_parts

with (
    job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"),
    in_use(snakemake.params.cache_dir),
):
    params, inputs = snakemake.params, dict(snakemake.input.items())
    asker = EngineAsker(params.generator, params.fingerprint, params.cache_dir, snakemake.threads)
    counted = count_requests(ask_parts, params.question, inputs, params.parts, asker)
    write_json(counted, snakemake.output.missing)
