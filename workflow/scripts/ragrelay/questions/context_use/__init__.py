"""Measure context use: how much more likely an answer is with its context in the prompt than without it."""
