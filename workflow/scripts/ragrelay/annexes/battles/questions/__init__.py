"""The annex's questions to models."""
