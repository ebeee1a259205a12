"""Regenerate some of the stored answers, and say whether the model still gives the same answers."""
