"""Estimate a study's cost before any engine starts."""
