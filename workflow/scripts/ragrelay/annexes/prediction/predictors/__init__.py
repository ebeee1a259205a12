"""Predictors, a family of them per module; predictor.predictors finds every class here."""
