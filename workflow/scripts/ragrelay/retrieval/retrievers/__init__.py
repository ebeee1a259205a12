"""Kinds of retrievers, one per module."""
