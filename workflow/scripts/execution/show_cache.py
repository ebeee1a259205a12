"""Print the cache's contents and the studies that use them, or list (and optionally remove) what no study needs."""

from pathlib import Path

from ragrelay.base.display.terminal import say
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.plan.cache import Needed, prune_cache, show_cache

params = snakemake.params
cache_dir, results = Path(params.cache_dir), Path(params.results)
if params.get("prune"):
    with on_terminal():
        say(*prune_cache(cache_dir, results, Needed(**params.needed), params.prune == "remove"))
else:
    say(show_cache(cache_dir, results))
