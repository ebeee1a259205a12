"""Read and write files: atomic writes, hashes, numbered text lines, append-only Parquet parts."""
