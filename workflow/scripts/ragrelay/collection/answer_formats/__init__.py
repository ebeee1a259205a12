"""Find and read files of imported answers, in any of their formats."""
