"""Input and output: files written whole, hashes, text lines with their places, append-only Parquet parts."""
