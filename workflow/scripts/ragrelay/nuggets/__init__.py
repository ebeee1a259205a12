"""Nuggets: the facts that a good answer has, in lists per query, and the scores that they give an answer."""
