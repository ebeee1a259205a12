"""Questions that the annex asks models."""
