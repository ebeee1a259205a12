"""The kinds of scorers, one in each module."""
