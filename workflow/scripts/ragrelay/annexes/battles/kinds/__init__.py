"""Kinds of battles: who says which of two answers is better."""
