"""Compute log-probabilities of contexts and of the passages in them, given the query."""
