"""Describe the length of a reasoning generator's thoughts, with each context and without a context."""
