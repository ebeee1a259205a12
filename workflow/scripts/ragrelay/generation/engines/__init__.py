"""The kinds of generators, one engine in each module."""
