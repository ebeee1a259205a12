"""Measure context use: how much likelier an answer is with its context in the prompt than without."""
