"""Retrieve TREC runs, and make contexts from them."""
