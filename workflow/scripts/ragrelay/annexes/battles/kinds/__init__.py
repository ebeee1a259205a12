"""Kinds of battles, one per module; they differ in who decides which of two answers is better."""
