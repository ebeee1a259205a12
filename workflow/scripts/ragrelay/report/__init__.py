"""Make the report: figures, tables and one self-contained page from the analysis of a study."""
