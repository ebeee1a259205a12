"""Kinds of battles, one per module. Kinds differ in who decides which of two answers is better."""
