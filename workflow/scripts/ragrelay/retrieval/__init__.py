"""Retrieve TREC runs and build contexts from them."""
