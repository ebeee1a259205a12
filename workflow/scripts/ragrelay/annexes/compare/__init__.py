"""Compare studies with a baseline: for which queries results changed, and whether by more than chance alone."""
