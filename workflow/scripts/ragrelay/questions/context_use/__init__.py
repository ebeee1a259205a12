"""Measure context use: how much likelier an answer is with the context in the prompt than without the context."""
