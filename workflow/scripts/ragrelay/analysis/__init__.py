"""Compute utility, relevance transmission and paired comparisons from scores."""
