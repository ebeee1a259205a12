"""Input and output: files written atomically, hashes, text lines with their places, append-only Parquet parts."""
