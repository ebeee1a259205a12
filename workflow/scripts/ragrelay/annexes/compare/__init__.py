"""Compare studies with a baseline: which queries' results changed, and whether by more than chance alone."""
