"""Kinds of datasets by source, one per module."""
