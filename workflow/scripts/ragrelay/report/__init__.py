"""Create a study's report from the results of its analysis: figures, tables and a self-contained page."""
