"""The cost of a study, before any engine starts."""
