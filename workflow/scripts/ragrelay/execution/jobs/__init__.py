"""Parts that all jobs share: logs, one-line errors, and code digests."""
