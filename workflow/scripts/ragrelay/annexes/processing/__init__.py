"""Describe the effects of context processors: tokens saved, texts changed, and differences in the answers."""
