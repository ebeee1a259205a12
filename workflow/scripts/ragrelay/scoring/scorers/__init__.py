"""The kinds of scorers, one per module."""
