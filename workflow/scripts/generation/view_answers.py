"""Write the answer files for all of a retriever's cells from the answer store."""

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.store import AnswerStore

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    prompts = keyed_files({"prompts": params.patterns["prompts"]}, snakemake.input)["prompts"]
    answers = keyed_files({"answers": params.patterns["answers"]}, snakemake.output)["answers"]
    left_out = view_answers(
        prompts.by("ordering", "k"),
        AnswerStore(params.cache_dir, params.fingerprint),
        answers.by("ordering", "k", "seed"),
        thinking=params.thinking,
        receipts=snakemake.input.receipts,
    )
    write_json(left_out, snakemake.output.left_out)
