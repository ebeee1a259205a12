"""Kinds of generators by engine, one per module."""
