"""File formats for claims, one per module."""
