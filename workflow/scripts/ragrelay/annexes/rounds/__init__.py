"""Ask again with what was found: the retrievers of a study at each step of a search with several rounds."""
