"""Sources of claims, one per module."""
