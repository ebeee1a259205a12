"""Read a finished study with ``ragrelay.open``: tables as polars frames, the page's answers and the main figure."""
