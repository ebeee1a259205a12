"""Produce TREC runs, and build contexts from the runs."""
