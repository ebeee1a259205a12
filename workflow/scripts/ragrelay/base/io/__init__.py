"""Read and write files: atomic writes, hashes, text lines with line numbers, and append-only Parquet stores."""
