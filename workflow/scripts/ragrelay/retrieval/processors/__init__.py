"""The kinds of processors, one class per file."""
