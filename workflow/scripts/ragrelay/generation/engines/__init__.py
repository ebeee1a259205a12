"""The kinds of generators, one engine per module."""
