"""The kinds of claims' sources, one in each module."""
