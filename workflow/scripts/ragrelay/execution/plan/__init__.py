"""Estimate what a study costs before any engine starts."""
