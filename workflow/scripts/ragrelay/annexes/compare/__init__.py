"""Compare two studies: which queries changed, and whether by more than chance."""
