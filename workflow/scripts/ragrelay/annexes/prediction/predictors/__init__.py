"""Predictors, a family of them per module; predictor.all_predictors finds every class here."""
