"""A finished study: tables as polars frames, the page's answers, its main figure; ``ragrelay.open`` opens one."""

from ragrelay.results.study_results import PageAnswers, Results, open_results

__all__ = ["PageAnswers", "Results", "open_results"]
