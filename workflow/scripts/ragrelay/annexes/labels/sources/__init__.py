"""Define the kinds of annotation sources, one in each module."""
