"""Read and write files: atomic writes, hashes, numbered text lines and append-only Parquet parts."""
