"""Deliberately change one passage in contexts, and measure the effect on the answers."""
