"""Describe what processors of contexts did: tokens saved, texts changed, and what became of the answers."""
