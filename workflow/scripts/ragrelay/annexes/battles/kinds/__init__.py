"""Kinds of battles, which differ in who decides which of two answers is better."""
