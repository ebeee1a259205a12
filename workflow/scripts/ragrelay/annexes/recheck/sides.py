"""Name the two sides of a recheck, stored and regenerated."""

SIDES = {"then": "the stored answer", "now": "the answer made again"}
"""What each side is called, keyed by the suffix of the column names of that side."""
