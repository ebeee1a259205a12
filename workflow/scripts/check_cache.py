"""Read every byte of the cache, and name what is damaged or was left by jobs that were killed."""

from pathlib import Path

from ragrelay.display.terminal import say
from ragrelay.jobs.cache_check import check_cache

damaged = list(check_cache(Path(snakemake.params.cache_dir)))
say(*damaged, f"{len(damaged)} things in {snakemake.params.cache_dir} are damaged or left over.")
