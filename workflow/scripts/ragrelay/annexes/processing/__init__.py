"""Describe the effects of context processors: tokens saved, texts changed, and differences between answers."""
