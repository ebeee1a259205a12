"""Compare studies with a baseline, to see which queries' results changed and whether the changes exceed chance."""
