"""Read a finished study with ``ragrelay.open``: tables as Polars frames, the page's answers and the main figure."""
