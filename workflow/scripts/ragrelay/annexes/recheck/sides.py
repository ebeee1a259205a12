"""Name the two versions of an answer in a recheck: stored and regenerated."""

SIDES = {"then": "the stored answer", "now": "the answer made again"}
"""What each side is called, keyed by the suffix of the column names of that side."""
