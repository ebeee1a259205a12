"""A finished study's tables as polars frames: ``ragrelay.results.load("results/demo").utility()``."""

from ragrelay.results.study_results import Results, load

__all__ = ["Results", "load"]
