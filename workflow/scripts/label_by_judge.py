"""Labels of a source that asks a generator about passages, from the store of likelihoods."""

import json
from pathlib import Path

from ragrelay.annotations.judgements import label_by_judge
from ragrelay.annotations.source import SOURCE_KINDS
from ragrelay.io.atomic_files import write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    receipt = json.loads(Path(snakemake.input.receipt).read_text(encoding="utf-8"))
    source = SOURCE_KINDS.of(snakemake.params.source)
    labels = label_by_judge(snakemake.input.prompts, receipt, source, snakemake.params.cache_dir)
    write_parquet(labels, snakemake.output[0])
