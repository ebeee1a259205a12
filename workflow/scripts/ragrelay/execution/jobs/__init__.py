"""What all jobs share: logs, errors of one line, and the digest of their code."""
