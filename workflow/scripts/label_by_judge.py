"""Labels of a source that asks a generator whether a passage is relevant, from the store of likelihoods."""

import json
from pathlib import Path

from ragrelay.annotations.judgements import label_by_judge
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    receipt = json.loads(Path(snakemake.input.receipt).read_text(encoding="utf-8"))
    write_parquet(label_by_judge(snakemake.input.prompts, receipt, snakemake.params.cache_dir), snakemake.output[0])
