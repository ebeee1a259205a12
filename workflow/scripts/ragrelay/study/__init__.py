"""A study as the rules of the workflow use it."""
