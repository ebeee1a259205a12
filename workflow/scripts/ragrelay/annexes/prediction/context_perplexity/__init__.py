"""Compute the log-probabilities, given the query, of complete contexts and of single passages."""
