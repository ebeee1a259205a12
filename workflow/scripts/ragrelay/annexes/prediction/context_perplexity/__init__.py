"""Compute the log-probabilities of complete contexts and of single passages, given the query."""
