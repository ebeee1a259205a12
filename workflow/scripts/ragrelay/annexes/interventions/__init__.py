"""Change one passage at a time in contexts, and measure the effect on the answers."""
