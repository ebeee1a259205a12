"""Compare retrievers at each step of a search with several rounds."""
