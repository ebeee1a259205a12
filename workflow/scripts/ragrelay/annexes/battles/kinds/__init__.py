"""Kinds of battles: they differ in who judges which of two answers is better."""
