"""A study's tables compared with published ones: cells, measures of reproduction, and the paper's findings."""
