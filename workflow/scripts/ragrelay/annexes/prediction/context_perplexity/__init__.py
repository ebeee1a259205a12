"""Measure how likely a generator finds a context given the query: log-probabilities of the context's passages."""
