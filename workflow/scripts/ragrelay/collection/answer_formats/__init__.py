"""Find and read files of imported answers in all supported formats."""
