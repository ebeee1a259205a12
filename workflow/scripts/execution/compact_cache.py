"""Join the many small files in the cache's stores into fewer, larger ones."""

from pathlib import Path

from ragrelay.base.display.terminal import say
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.plan.cache import compact_cache

cache_dir = Path(snakemake.params.cache_dir)
with on_terminal():
    check_writable("joined parts would be written to", cache_dir)
say(*compact_cache(cache_dir), f"{cache_dir}: no more parts to join.")
