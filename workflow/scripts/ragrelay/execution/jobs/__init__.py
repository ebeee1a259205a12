"""Provide logs, one-line errors and code digests for jobs."""
