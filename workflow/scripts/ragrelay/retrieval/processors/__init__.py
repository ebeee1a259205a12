"""Kinds of processors, one per module."""
