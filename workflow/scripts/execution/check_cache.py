"""Read every byte in the cache, and list damaged files and leftovers from killed jobs."""

from pathlib import Path

from ragrelay.base.display.terminal import say
from ragrelay.execution.jobs.cache_check import check_cache

damaged = list(check_cache(Path(snakemake.params.cache_dir)))
say(*damaged, f"Damaged or leftover files and folders in {snakemake.params.cache_dir}: {len(damaged)}")
