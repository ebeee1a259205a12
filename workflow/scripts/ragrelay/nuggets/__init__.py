"""Nuggets: the facts that a good answer states. Lists of them per query, and scores of answers from them."""
