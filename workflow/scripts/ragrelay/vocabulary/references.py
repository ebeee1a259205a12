"""Names of reference sets: a dataset's grades, each with a companion that leaves out what the context showed."""

UNSEEN = "-unseen"
"""Ends the name of a reference set without the passages of the query's own context and their near copies."""
