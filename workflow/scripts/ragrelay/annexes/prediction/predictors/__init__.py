"""Define the predictors, one family per module; predictor.predictors finds every class here."""
