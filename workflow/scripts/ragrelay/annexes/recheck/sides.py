"""Name the two sides of a recheck."""

SIDES = {"then": "the stored answer", "now": "the answer made again"}
"""What each is, by the end of its columns' names."""
