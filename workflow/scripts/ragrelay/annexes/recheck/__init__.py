"""Regenerate some of the stored answers, and report whether the model still gives the same answers."""
