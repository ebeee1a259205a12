"""Kinds of scorers, one per module."""
