"""Compare retrievers in each step of a search with several rounds."""
