"""Find and read files with imported answers, in all supported formats."""
