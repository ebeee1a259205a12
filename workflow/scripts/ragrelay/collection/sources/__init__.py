"""Kinds of dataset sources, one per module."""
