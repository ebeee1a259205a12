"""A study's tables beside published ones: cell by cell, with measures of reproduction, and the paper's findings."""
