"""The kinds of generators, by engine, one per module."""
