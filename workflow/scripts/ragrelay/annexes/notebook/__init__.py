"""Read a finished study: tables as polars frames, the page's answers, the main figure. ``ragrelay.open`` opens one."""
