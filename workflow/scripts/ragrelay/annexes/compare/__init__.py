"""Compare studies with a baseline: which queries changed, and whether by more than chance."""
