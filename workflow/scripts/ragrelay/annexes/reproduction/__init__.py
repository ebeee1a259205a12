"""Compare a study's tables with published tables: cells, measures of reproduction, and the paper's findings."""
