"""Generate answers with engines, store them, and write each cell's answers to a file."""
