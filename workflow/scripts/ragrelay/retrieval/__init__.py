"""Retrievers make TREC runs; contexts and measures are made from the runs."""
