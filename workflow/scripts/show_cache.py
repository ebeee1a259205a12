"""Print what the cache holds, and for which studies; nothing is written."""

from pathlib import Path

from ragrelay.display.terminal import say
from ragrelay.planning.cache import show_cache

say(show_cache(Path(snakemake.params.cache_dir), Path(snakemake.params.results)))
