"""Look up the answers to single passages in the answer store, and write them to a file."""

from ragrelay.analysis.lengths import check_answered
from ragrelay.annexes.labels.single_answers import read_single_passages, view_single_answers
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.generation.store import AnswerStore

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    answers = view_single_answers(
        read_single_passages(snakemake.input.prompts),
        params.seeds,
        AnswerStore(params.cache_dir, params.fingerprint),
        thinking=params.thinking,
        receipts=snakemake.input.receipts,
    )
    check_answered(answers, "answers of generator {generator} to passages of {dataset}".format(**snakemake.wildcards))
    write_parquet(answers, snakemake.output[0])
