"""Compare a study's tables with published ones: cells, measures of reproduction, and the paper's findings."""
