"""Define the kinds of annotation sources, one per module."""
