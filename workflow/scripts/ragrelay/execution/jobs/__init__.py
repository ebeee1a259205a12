"""Provide what all jobs use: logs, one-line errors and code digests."""
