"""Kinds of processors: one class in one file each."""
