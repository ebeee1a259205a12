"""What every job shares: logs, ends in one line, and the digest of its code."""
