"""Change one passage in contexts on purpose, and measure the effect on the answers."""
