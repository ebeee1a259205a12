"""Predictors, one family per module. Every predictor class in this package is used automatically."""
