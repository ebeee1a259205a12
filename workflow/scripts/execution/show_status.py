"""Print what has been generated so far and which jobs failed, without writing any files."""

from datetime import datetime
from pathlib import Path

from ragrelay.base.display.terminal import say
from ragrelay.generation.engine_use import used_by_rule
from ragrelay.generation.job_logs import Logged, failed_jobs
from ragrelay.generation.status import Shard, failed_addresses, generation_status, show_status
from ragrelay.report.used import Benchmarks, jobs_used, show_used

params = snakemake.params
shards = [Shard(**shard) for shard in params.shards]
table = generation_status(shards, datetime.now())
failed = failed_jobs(Path(params.logs), [Logged(*rule) for rule in params.rules])
status = show_status(table, {str(log): record.last for log, record in failed}, failed_addresses(shards))
used = show_used(jobs_used(Benchmarks(**params.used)), used_by_rule(Path(params.logs)))
say(*filter(None, [used, status]))
