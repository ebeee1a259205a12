"""Read a finished study: tables as polars frames, the page's answers, the main figure. ``ragrelay.open`` opens one."""

from ragrelay.annexes.notebook.study_results import PageAnswers, Results, open_results

__all__ = ["PageAnswers", "Results", "open_results"]
