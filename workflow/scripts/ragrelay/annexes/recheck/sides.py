"""Describe the two versions of an answer in a recheck: stored and regenerated."""

SIDES = {"then": "the stored answer", "now": "the regenerated answer"}
"""The two versions' descriptions, keyed by the suffix of their column names."""
