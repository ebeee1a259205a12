"""What all jobs share: logs, one-line errors and code digests."""
