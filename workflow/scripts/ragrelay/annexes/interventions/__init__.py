"""Change one passage of contexts on purpose, and measure what that does to the answers."""
